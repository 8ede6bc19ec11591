"""What every index of passages shares, embedded or not: a text's terms, a passage's stored form, the order of hits."""
