"""ML-KEM of FIPS 203 in plain Python, written to be read: an example of a program for `karat kat --cmd`.

Reads one JSON line {id, scheme, op, in: {name: hex}} at a time and answers {id, out: {name: hex}} or {id, error}.
A first argument makes it misbehave, for the tests of what karat says then: `wrong`, `hang`, `die`, `nonsense`,
`mute` (it closes its output and runs on), `deaf` (it does not read).
"""

import hashlib
import json
import os
import sys
import time

Q, N = 3329, 256
SETS = {"ML-KEM-512": (2, 3, 10, 4), "ML-KEM-768": (3, 2, 10, 4), "ML-KEM-1024": (4, 2, 11, 5)}


def bit_reversed(i):
    return int(f"{i:07b}"[::-1], 2)


ZETAS = [pow(17, bit_reversed(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * bit_reversed(i) + 1, Q) for i in range(128)]


def ntt(f):
    f, i, length = list(f), 1, 128
    while length >= 2:
        for start in range(0, N, 2 * length):
            for j in range(start, start + length):
                t = ZETAS[i] * f[j + length] % Q
                f[j], f[j + length] = (f[j] + t) % Q, (f[j] - t) % Q
            i += 1
        length //= 2
    return f


def inverse_ntt(f):
    f, i, length = list(f), 127, 2
    while length <= 128:
        for start in range(0, N, 2 * length):
            for j in range(start, start + length):
                f[j], f[j + length] = (f[j] + f[j + length]) % Q, ZETAS[i] * (f[j + length] - f[j]) % Q
            i -= 1
        length *= 2
    return [x * pow(128, -1, Q) % Q for x in f]


def multiply(f, g):
    out = []
    for i in range(128):
        (a, b), (c, d) = f[2 * i : 2 * i + 2], g[2 * i : 2 * i + 2]
        out += [(a * c + b * d * GAMMAS[i]) % Q, (a * d + b * c) % Q]
    return out


def add(f, g):
    return [(x + y) % Q for x, y in zip(f, g)]


def dot(fs, gs):
    total = [0] * N
    for f, g in zip(fs, gs):
        total = add(total, multiply(f, g))
    return total


def encode(f, d):
    return sum(x << (d * i) for i, x in enumerate(f)).to_bytes(32 * d, "little")


def decode(data, d):
    bits = int.from_bytes(data, "little")
    return [bits >> (d * i) & ((1 << d) - 1) for i in range(N)]


def polys(data, d):
    return [decode(data[i : i + 32 * d], d) for i in range(0, len(data), 32 * d)]


def compress(f, d):
    return [((x << (d + 1)) + Q) // (2 * Q) % (1 << d) for x in f]


def decompress(f, d):
    return [(2 * x * Q + (1 << d)) >> (d + 1) for x in f]


def uniform(seed):
    data, out = hashlib.shake_128(seed).digest(3 * 1024), []
    for a, b, c in zip(data[::3], data[1::3], data[2::3]):
        out += [x for x in (a | (b & 15) << 8, b >> 4 | c << 4) if x < Q]
    return out[:N]


def matrix(rho, k):
    return [[uniform(rho + bytes([j, i])) for j in range(k)] for i in range(k)]


def noise(seed, nonce, eta):
    bits = int.from_bytes(hashlib.shake_256(seed + bytes([nonce])).digest(64 * eta), "little")
    count = lambda at: (bits >> at & ((1 << eta) - 1)).bit_count()
    return [(count(2 * eta * i) - count(2 * eta * i + eta)) % Q for i in range(N)]


def keygen(seed, k, eta1, du, dv):
    assert len(seed) == 64, "the seed has a wrong length"
    seeds = hashlib.sha3_512(seed[:32] + bytes([k])).digest()
    rho, sigma = seeds[:32], seeds[32:]
    s = [ntt(noise(sigma, i, eta1)) for i in range(k)]
    e = [ntt(noise(sigma, k + i, eta1)) for i in range(k)]
    t = [add(dot(row, s), e[i]) for i, row in enumerate(matrix(rho, k))]
    ek = b"".join(encode(f, 12) for f in t) + rho
    return ek, b"".join(encode(f, 12) for f in s) + ek + hashlib.sha3_256(ek).digest() + seed[32:]


def encrypt(ek, message, r, k, eta1, du, dv):
    t, rho = polys(ek[:-32], 12), ek[-32:]
    y = [ntt(noise(r, i, eta1)) for i in range(k)]
    a = matrix(rho, k)
    u = [add(inverse_ntt(dot([a[j][i] for j in range(k)], y)), noise(r, k + i, 2)) for i in range(k)]
    v = add(inverse_ntt(dot(t, y)), noise(r, 2 * k, 2))
    v = add(v, decompress(decode(message, 1), 1))
    return b"".join(encode(compress(f, du), du) for f in u) + encode(compress(v, dv), dv)


def check_ek(ek, k):
    assert len(ek) == 384 * k + 32, "the encapsulation key has a wrong length"
    assert all(x < Q for f in polys(ek[:-32], 12) for x in f), "the encapsulation key is not reduced"


def check_dk(dk, k):
    assert len(dk) == 768 * k + 96, "the decapsulation key has a wrong length"
    ek = dk[384 * k : 768 * k + 32]
    assert hashlib.sha3_256(ek).digest() == dk[-64:-32], "the decapsulation key has a wrong hash"
    check_ek(ek, k)
    return ek


def encaps(ek, m, k, *rest):
    check_ek(ek, k)
    assert len(m) == 32, "m has a wrong length"
    derived = hashlib.sha3_512(m + hashlib.sha3_256(ek).digest()).digest()
    return encrypt(ek, m, derived[32:], k, *rest), derived[:32]


def decaps(dk, c, k, eta1, du, dv):
    ek = check_dk(dk, k)
    assert len(c) == 32 * (du * k + dv), "the ciphertext has a wrong length"
    s, u = polys(dk[: 384 * k], 12), polys(c[: 32 * du * k], du)
    masked = inverse_ntt(dot(s, [ntt(decompress(f, du)) for f in u]))
    w = [(x - y) % Q for x, y in zip(decompress(decode(c[32 * du * k :], dv), dv), masked)]
    message = encode(compress(w, 1), 1)
    derived = hashlib.sha3_512(message + dk[-64:-32]).digest()
    if encrypt(ek, message, derived[32:], k, eta1, du, dv) == c:
        return derived[:32]
    return hashlib.shake_256(dk[-32:] + c).digest(32)


def answer(request):
    parameters, op = SETS[request["scheme"]], request["op"]
    given = {name: bytes.fromhex(value) for name, value in request["in"].items()}
    if op == "keygen":
        ek, dk = keygen(given["seed"], *parameters)
        return {"ek": ek, "dk": dk}
    if op == "encaps":
        c, k = encaps(given["ek"], given["m"], *parameters)
        return {"c": c, "k": k}
    if op == "decaps":
        dk = keygen(given["seed"], *parameters)[1] if "seed" in given else given["dk"]
        return {"k": decaps(dk, given["c"], *parameters)}
    if op == "check-ek":
        check_ek(given["ek"], parameters[0])
    else:
        check_dk(given["dk"], parameters[0])
    return {}


def main():
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    if fault == "deaf":
        time.sleep(60)
    for line in sys.stdin:
        request = json.loads(line)
        if fault == "hang":
            time.sleep(60)
        if fault == "mute":
            os.close(1)
            time.sleep(60)
        if fault == "die":
            sys.exit(3)
        if fault == "nonsense":
            print("as you like it", flush=True)
            continue
        reply = {"id": request["id"]}
        try:
            out = answer(request)
            if fault == "wrong" and "k" in out:
                out["k"] = bytes(32)
            reply["out"] = {name: value.hex() for name, value in out.items()}
        except AssertionError as refusal:
            reply["error"] = str(refusal)
        print(json.dumps(reply), flush=True)


main()
