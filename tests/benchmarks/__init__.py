"""Speed, build time and memory of emitted gradients, against gradients that a careful person wrote by hand."""
