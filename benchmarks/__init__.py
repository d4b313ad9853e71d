"""Jobs measured against their peers and their floors, each as a ratio in one run."""
