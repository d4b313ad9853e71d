"""Experiments of the papers behind mien.

``python -m papers`` lists them, ``python -m papers NAME`` runs one.

Each paper is a package of three parts: ``data`` (what is read), ``run`` (numbers from arrays) and
``report`` (tables and figures); its command line is its ``__main__``.
"""
