"""The intermediate representation: frozen nodes, names, a checker and a printer."""
