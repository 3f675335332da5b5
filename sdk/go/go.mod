module cairn.invalid/cairn

go 1.22
