"""Which question first: answers needed to sort faces by person, on LFW's vectors."""
