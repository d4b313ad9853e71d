"""Joint Bayesian on LFW, and its transfer to a new domain (Cao, Wipf, Wen and Duan, 2013)."""
