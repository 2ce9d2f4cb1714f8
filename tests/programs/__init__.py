"""Programs of many fields, each as its author would write it without a thought of derivatives."""
