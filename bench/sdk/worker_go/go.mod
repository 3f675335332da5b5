module cairn.invalid/cairn/bench

go 1.22

replace cairn.invalid/cairn => ../../../sdk/go

require cairn.invalid/cairn v0.0.0
