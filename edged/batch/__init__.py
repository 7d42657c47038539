"""Answers to archives: millions of pictures or hours of video, on one machine or on a Ray cluster."""
