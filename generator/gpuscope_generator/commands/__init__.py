"""The commands of the generator, by what they are for."""
