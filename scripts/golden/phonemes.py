"""Reference for the English phonemes: misaki, with the tagger it needs and without a fallback for words it does not know.

usage: phonemes.py us|gb < SENTENCES    (one a line); prints one line of JSON a sentence: [text, tag, phonemes,
space behind] of each token, phonemes "" for an unknown word
needs: pip install misaki num2words spacy, and spaCy's en_core_web_sm
"""
import json
import sys

from misaki import en

g2p = en.G2P(trf=False, british=sys.argv[1] == "gb", fallback=None, unk="")
for line in sys.stdin:
    _, tokens = g2p(line.strip())
    print(json.dumps([[t.text, t.tag, t.phonemes or "", bool(t.whitespace)] for t in tokens], ensure_ascii=False))
