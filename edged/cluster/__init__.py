"""Ray clusters, for `edged batch` and `edged eval`: connect, start one actor a device, open the model there."""
