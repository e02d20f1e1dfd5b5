# SPDX-License-Identifier: BSD-3-Clause
"""Write files of genotypes."""

import numpy as np


def write_plink(folder, codes, stem="x"):
    """Write codes (SNPs, people): 0 and 3 are homozygous, 2 is mixed, 1 is missing."""
    codes = np.asarray(codes, dtype=np.uint8)
    n_snps, n_people = codes.shape
    padded = np.zeros((n_snps, -(-n_people // 4) * 4), dtype=np.uint8)
    padded[:, :n_people] = codes
    packed = (padded.reshape(n_snps, -1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    bed = folder / f"{stem}.bed"
    bed.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    people = "".join(f"f{i} i{i} 0 0 1 -9\n" for i in range(n_people))
    (folder / f"{stem}.fam").write_text(people)
    snps = "".join(f"1\trs{j}\t0\t{j}\tA\tG\n" for j in range(n_snps))
    (folder / f"{stem}.bim").write_text(snps)
    return bed


def write_vcf(path, n_variants=20, n_people=11):
    """Write calls of one to three alleles, some missing and some half missing."""
    rng = np.random.default_rng(2)
    calls = ["0/0", "0/1", "1|1", "./.", "1/2", "./1", ".", "0"]
    people = "\t".join(f"p{n % 9}" for n in range(n_people))  # two names repeat
    lines = [
        "##fileformat=VCFv4.2",
        f"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t{people}",
    ]
    for n in range(n_variants):
        cells = "\t".join(f"{calls[k]}:9" for k in rng.integers(0, min(8, 4 + n // 5), n_people))
        name, passed = "." if n % 3 else f"rs{n % 6}", "low" if n % 7 == 3 else "PASS"
        lines.append(f"1\t{n}\t{name}\tA\tC,GT\t.\t{passed}\t.\tGT:DP\t{cells}")
    path.write_text("\n".join(lines) + "\n")
