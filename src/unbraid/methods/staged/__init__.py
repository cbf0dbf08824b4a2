"""Stages of multi-stage models, and the models they are compared with."""
