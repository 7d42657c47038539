"""The ways of frames through the processes of a daemon that recorded them: a time line, and for OpenTelemetry."""
