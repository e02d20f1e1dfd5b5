# SPDX-License-Identifier: BSD-3-Clause
"""Where the files of well-known public data sets are, and their checksums where they are known."""

from __future__ import annotations

from discan.readers.public_files import PublicFiles

__all__ = ["AP", "HAPMAP3", "KOS", "NEWSGROUPS"]

NEWSGROUPS = PublicFiles(
    "20 newsgroups",
    ("20news-bydate.tar.gz", "20news-bydate-train"),
    "http://qwone.com/~jason/20Newsgroups/",
    url="https://ndownloader.figshare.com/files/5975967",  # as in scikit-learn
    sha256={
        "20news-bydate.tar.gz": "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
    },
)
AP = PublicFiles(
    "Associated Press",
    ("ap.dat",),
    "https://github.com/blei-lab/lda-c (example/ap.tgz, unpacked)",
    companions=("vocab.txt",),
)
KOS = PublicFiles(
    "UCI KOS",
    ("docword.kos.txt.gz", "docword.kos.txt"),
    "https://archive.ics.uci.edu/dataset/164/bag+of+words",
    companions=("vocab.kos.txt",),
)
HAPMAP3 = PublicFiles(
    "HapMap3 (the sample of the ADMIXTURE manual)",
    ("hapmap3.bed",),
    "https://github.com/mimno/admixture-ppc (hapmap3-files)",
    companions=("hapmap3.bim", "hapmap3.fam", "hapmap3.pops"),
    url="https://raw.githubusercontent.com/mimno/admixture-ppc/"
    "80f0619528b0859a08081d737e28db7aa71a00a5/hapmap3-files/",
    sha256={
        "hapmap3.bed": "4e2acc16238caee9f896d170aefcb779e9a920fa4dd48105829919eda645117c",
        "hapmap3.bim": "759b8bd98c01cb992c74df927c693af4815df71f5220b99df036bb1ecd42812f",
        "hapmap3.fam": "edc5e654cee77c12ef97a73b5b2e4c2e370c45840a70d8755a44ad2a39befc8b",
        "hapmap3.pops": "831dfe4a1c54d28fe6bb05445ff40976919a1b278d44f1ae6b3cf47213920962",
    },
)
