"""What policies learn: arrays that kernels read and write, behind one small interface.

A policy of the package is its parameters, the calls of its frame, and one of these learners. Here
are no parameters to check and no ids to look up: users and models are numbers.
"""
