// Local privacy in a browser or in Node: randomise an answer where it is given, keep the report, send it.
//
// No dependencies. Random words come from WebCrypto alone; every draw is made in whole numbers (BigInt, or
// numbers below 2^53); the same words give the same report as discreet's Python code, bit for bit.
(function (root) {
  "use strict";

  const WORD = 1n << 64n;

  class Refused extends Error {}

  function refuse(message) {
    throw new Refused(message);
  }

  // --- random words ----------------------------------------------------------------------------------------

  // Words from WebCrypto, a block at a time; each is given out once and wiped.
  function secureWords() {
    const crypto = root.crypto;
    if (!crypto || !crypto.getRandomValues) refuse("this device has no secure randomness, so nothing was drawn.");
    const block = new BigUint64Array(16);
    let left = 0;
    return () => {
      if (left === 0) {
        crypto.getRandomValues(block);
        left = block.length;
      }
      left -= 1;
      const word = block[left];
      block[left] = 0n;
      return word;
    };
  }

  // A uniform whole number below the bound: words from the last, incomplete multiple on are thrown away.
  function uniformBelow(words, bound) {
    const size = BigInt(bound);
    const limit = WORD - (WORD % size);
    for (;;) {
      const word = words();
      if (word < limit) return Number(word % size);
    }
  }

  // The first of a uniform shuffle of 0, 1, … (Fisher and Yates); only cards that were moved are kept.
  function shuffleFirst(total, wanted, words) {
    const moved = new Map();
    const cardAt = (place) => moved.get(place) ?? place;
    return Array.from({ length: wanted }, (_, i) => {
      const j = i + uniformBelow(words, total - i);
      const drawn = cardAt(j);
      moved.set(j, cardAt(i));
      return drawn;
    });
  }

  // Whether U < numerator/denominator for a uniform U whose words are drawn as needed.
  function coin(words, numerator, denominator) {
    let shift = 64n;
    let prefix = words();
    let floor = (numerator << shift) / denominator;
    while (prefix === floor) {
      prefix = (prefix << 64n) | words();
      shift += 64n;
      floor = (numerator << shift) / denominator;
    }
    return prefix < floor;
  }

  // --- exact numbers ---------------------------------------------------------------------------------------

  // [numerator, denominator] of "1/3", "0.5" or "2".
  function fraction(text) {
    const match = /^(-?\d{1,60})(?:\/(\d{1,60})|\.(\d{1,60}))?$/.exec(String(text));
    if (!match) refuse("a number must be written as 3, 0.5 or 1/3.");
    const [, whole, below, decimals] = match;
    if (below !== undefined) {
      if (BigInt(below) === 0n) refuse("a number must be written as 3, 0.5 or 1/3.");
      return [BigInt(whole), BigInt(below)];
    }
    if (decimals === undefined) return [BigInt(whole), 1n];
    return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
  }

  const sum = ([a, b], [c, d]) => [a * d + c * b, b * d];
  const atMost = ([a, b], [c, d]) => a * d <= c * b;

  // Whether numerator/denominator <= e^epsilon, proved: partial sums of the series are below e^epsilon.
  function isBelowExponential([numerator, denominator], [a, b]) {
    const scale = 1n << 256n;
    let term = scale;
    let total = scale;
    for (let n = 1n; term > 0n && n < 4000n; n += 1n) {
      term = (term * a) / (b * n); // rounded down
      total += term;
    }
    return numerator * scale <= denominator * total;
  }

  // --- finite fields ---------------------------------------------------------------------------------------

  const fields = new Map();

  // Sums and products of the field of q elements, as discreet numbers them: digits of base p are coefficients,
  // products are taken modulo the least monic irreducible polynomial.
  function fieldOf(q) {
    if (!fields.has(q)) fields.set(q, makeField(q));
    return fields.get(q);
  }

  function makeField(q) {
    let p = 2;
    while (p * p <= q && q % p !== 0) p += 1;
    if (q % p !== 0) p = q;
    let degree = 0;
    let rest = q;
    while (rest % p === 0) {
      rest /= p;
      degree += 1;
    }
    if (q < 2 || rest !== 1 || (degree > 1 && q > 256)) refuse("a field must have a prime power of elements.");
    if (degree === 1) {
      return { add: (a, b) => (a + b) % q, multiply: (a, b) => (a * b) % q };
    }
    const digits = (x, count) => Array.from({ length: count }, (_, i) => Math.floor(x / p ** i) % p);
    const number = (list) => list.reduce((total, digit, i) => total + digit * p ** i, 0);
    const modulus = leastIrreducible(p, degree, digits);
    const sums = new Uint16Array(q * q);
    const products = new Uint16Array(q * q);
    for (let a = 0; a < q; a += 1) {
      for (let b = 0; b < q; b += 1) {
        const [x, y] = [digits(a, degree), digits(b, degree)];
        sums[a * q + b] = number(x.map((each, i) => (each + y[i]) % p));
        products[a * q + b] = number(polynomialProduct(x, y, modulus, p));
      }
    }
    return { add: (a, b) => sums[a * q + b], multiply: (a, b) => products[a * q + b] };
  }

  function polynomialProduct(a, b, modulus, p) {
    const degree = modulus.length;
    const result = new Array(2 * degree - 1).fill(0);
    a.forEach((x, i) => b.forEach((y, j) => { result[i + j] = (result[i + j] + x * y) % p; }));
    for (let i = 2 * degree - 2; i >= degree; i -= 1) {
      for (let j = 0; j < degree; j += 1) {
        const place = i - degree + j;
        result[place] = (((result[place] - result[i] * modulus[j]) % p) + p) % p;
      }
    }
    return result.slice(0, degree);
  }

  function leastIrreducible(p, degree, digits) {
    for (let code = 0; code < p ** degree; code += 1) {
      const candidate = [...digits(code, degree), 1];
      let divided = false;
      for (let d = 1; d <= degree / 2 && !divided; d += 1) {
        for (let c = 0; c < p ** d && !divided; c += 1) divided = divides([...digits(c, d), 1], candidate, p);
      }
      if (!divided) return candidate.slice(0, -1);
    }
    return refuse("a field must have a prime power of elements.");
  }

  function divides(factor, whole, p) {
    const rest = [...whole];
    for (let i = rest.length - 1; i >= factor.length - 1; i -= 1) {
      const lead = rest[i];
      factor.forEach((each, j) => {
        const place = i - factor.length + 1 + j;
        rest[place] = (((rest[place] - lead * each) % p) + p) % p;
      });
    }
    return rest.every((each) => each === 0);
  }

  // --- protocols -------------------------------------------------------------------------------------------

  const sizeOf = (protocol) => (Array.isArray(protocol.values) ? protocol.values.length : protocol.domain);

  async function placeOf(protocol, value) {
    if (protocol.values) {
      const place = protocol.values.indexOf(value);
      return place >= 0 ? place : refuse("the answer must be one of the declared values.");
    }
    if (protocol.seed !== undefined) {
      if (typeof value !== "string" || !isText(value)) refuse("the answer must be text.");
      const bytes = new TextEncoder().encode(`${protocol.seed}\0${value}`);
      const digest = new DataView(await root.crypto.subtle.digest("SHA-256", bytes));
      return Number(digest.getBigUint64(0) % BigInt(protocol.domain));
    }
    if (!Number.isSafeInteger(value) || value < 0 || value >= protocol.domain) {
      refuse("the answer must be one of the declared values.");
    }
    return value;
  }

  // Whether it can be written as UTF-8: half of a surrogate pair cannot.
  function isText(value) {
    try {
      encodeURIComponent(value);
      return true;
    } catch {
      return false;
    }
  }

  function isWhole(number, least, most) {
    return Number.isSafeInteger(number) && number >= least && number <= most;
  }

  // `bounded`: whether the answer is a number between bounds, or one of the values. A protocol that had both
  // could make a report of what its price was not proved for.
  const KINDS = {
    choice: {
      bounded: false,
      odds: (protocol) => [BigInt(sizeOf(protocol) - protocol.size), BigInt(protocol.size)],
      check: (protocol) => isWhole(protocol.size, 1, sizeOf(protocol) - 1),
      draw(protocol, place, words) {
        const { size } = protocol;
        const truthful = words() < BigInt(protocol.threshold);
        const held = shuffleFirst(sizeOf(protocol) - 1, size, words).map((other) => other + (other >= place ? 1 : 0));
        if (truthful) held[size - 1] = place;
        held.sort((a, b) => a - b);
        const named = protocol.values ? held.map((each) => protocol.values[each]) : held;
        return size === 1 ? named[0] : named;
      },
    },
    projective: {
      bounded: false,
      odds: (protocol) => [BigInt(protocol.field - 1), 1n],
      check: ({ field, digits, ...protocol }) =>
        isWhole(field, 2, 1 << 14) && isWhole(digits, 1, 26) && field ** digits >= sizeOf(protocol)
        && field ** digits < 2 ** 27 && Boolean(fieldOf(field)),
      draw(protocol, place, words) {
        const { field: q, digits } = protocol;
        const z = uniformBelow(words, (q ** digits - 1) / (q - 1));
        const truthful = words() < BigInt(protocol.threshold);
        let digit = hash(q, digits, place, z);
        if (!truthful) digit = (digit + 1 + uniformBelow(words, q - 1)) % q;
        return z * q + digit;
      },
    },
    window: {
      bounded: true,
      odds: (protocol) => [BigInt(protocol.levels), BigInt(protocol.window)],
      check: ({ levels, window }) => isWhole(levels, 1, 1 << 20) && isWhole(window, 1, 1 << 20),
      draw(protocol, level, words) {
        const inside = words() < BigInt(protocol.threshold);
        const near = level + uniformBelow(words, protocol.window);
        const far = uniformBelow(words, protocol.levels);
        return inside ? near : far + (far >= level ? protocol.window : 0);
      },
    },
  };
  KINDS.wave = KINDS.window; // the same report, from a bin instead of a level

  // The digit of a value in direction z: see docs/theory/local.md for how directions are numbered.
  function hash(q, digits, place, z) {
    const { add, multiply } = fieldOf(q);
    let free = 0;
    let start = 0;
    while (start + q ** free <= z) {
      start += q ** free;
      free += 1;
    }
    let rest = z - start;
    let high = Math.floor(place / q ** (digits - 1 - free));
    let digit = high % q;
    for (let i = 0; i < free; i += 1) {
      high = Math.floor(high / q);
      digit = add(digit, multiply(high % q, rest % q));
      rest = Math.floor(rest / q);
    }
    return digit;
  }

  // A number clamped to its bounds: in parts of their width, [numerator, denominator].
  function partOf(protocol, value) {
    const [low, high] = protocol.bounds.map(fraction);
    let [a, b] = typeof value === "number" ? binary(value) : fraction(value);
    if (atMost([a, b], low)) [a, b] = low;
    if (atMost(high, [a, b])) [a, b] = high;
    const above = [a * low[1] - low[0] * b, b * low[1]];
    const span = [high[0] * low[1] - low[0] * high[1], high[1] * low[1]];
    return [above[0] * span[1], above[1] * span[0]];
  }

  // A number in floating point, exactly.
  function binary(value) {
    if (!Number.isFinite(value)) refuse("the answer must be a number.");
    let scaled = value;
    let denominator = 1n;
    while (!Number.isInteger(scaled)) {
      scaled *= 2;
      denominator *= 2n;
    }
    return [BigInt(scaled), denominator];
  }

  // Rounded at random to one of levels + 1 levels, so that its mean stays.
  function levelOf(protocol, value, words) {
    const [part, denominator] = partOf(protocol, value);
    const numerator = part * BigInt(protocol.levels);
    return Number(numerator / denominator) + (coin(words, numerator % denominator, denominator) ? 1 : 0);
  }

  // The bin, of levels + 1 equal ones.
  function binOf(protocol, value) {
    const [part, denominator] = partOf(protocol, value);
    return Math.min(Number((part * BigInt(protocol.levels + 1)) / denominator), protocol.levels);
  }

  // Refuse a protocol that this client does not know, or whose threshold would cost more than its epsilon.
  function checkProtocol(protocol) {
    if (!protocol || protocol.version !== 1) refuse("the protocol must be of version 1.");
    if (protocol.protocol === "questions") return checkQuestions(protocol);
    const kind = Object.hasOwn(KINDS, protocol.protocol) ? KINDS[protocol.protocol] : undefined;
    if (!kind) refuse("the protocol must be a choice, a number or several questions.");
    const bounded = Array.isArray(protocol.bounds) && protocol.bounds.length === 2;
    const listed = protocol.values !== undefined || protocol.domain !== undefined;
    const fits = kind.bounded ? bounded && !listed && atMostStrictly(protocol.bounds)
      : protocol.bounds === undefined && isWhole(sizeOf(protocol), 2, 1 << 24);
    if (!fits) refuse("the protocol must have values, a domain or bounds, as its kind needs.");
    if (!kind.check(protocol)) refuse("the protocol must have a shape that fits its values.");
    const epsilon = fraction(protocol.epsilon);
    const threshold = /^\d{1,20}$/.test(String(protocol.threshold)) ? BigInt(protocol.threshold) : -1n;
    if (epsilon[0] <= 0n || threshold < 0n || threshold >= WORD) refuse("the protocol must have a price.");
    // The report's likelihood ratio: threshold/(2^64 - threshold) · odds.
    const [more, less] = kind.odds(protocol);
    const ratio = [threshold * more, (WORD - threshold) * less];
    if (!isBelowExponential(ratio, epsilon) || ratio[0] < ratio[1]) {
      refuse("the protocol must keep its epsilon, but its threshold does not.");
    }
    return protocol;
  }

  // Several questions: `asked` of them are answered, at epsilon/asked each.
  function checkQuestions(protocol) {
    const { questions, asked } = protocol;
    if (!Array.isArray(questions) || !isWhole(asked, 1, questions.length)) {
      refuse("the questions must be at least as many as are asked.");
    }
    const names = new Set(questions.map((question) => question && question.name));
    if (names.size !== questions.length || [...names].some((name) => typeof name !== "string")) {
      refuse("the questions must have different names.");
    }
    const [a, b] = fraction(protocol.epsilon);
    for (const question of questions) {
      if (!question.protocol || question.protocol.protocol === "questions") refuse("a question must be a single one.");
      checkProtocol(question.protocol);
      const [c, d] = fraction(question.protocol.epsilon);
      if (c * b * BigInt(asked) !== a * d) refuse("the questions must each cost their part of epsilon.");
    }
    return protocol;
  }

  function atMostStrictly([low, high]) {
    return !atMost(fraction(high), fraction(low));
  }

  // What is sent for an answer, from these words. For tests: reports are made by `randomize`.
  async function draw(protocol, value, words) {
    checkProtocol(protocol);
    return protocol.protocol === "questions" ? drawSome(protocol, value, words) : drawOne(protocol, value, words);
  }

  async function drawOne(protocol, value, words) {
    const kind = KINDS[protocol.protocol];
    if (!kind.bounded) return kind.draw(protocol, await placeOf(protocol, value), words);
    const level = protocol.protocol === "wave" ? binOf(protocol, value) : levelOf(protocol, value, words);
    return kind.draw(protocol, level, words);
  }

  // Which questions are answered does not depend on the answers; all answers are read first, so that a refusal
  // does not tell which were drawn.
  async function drawSome({ questions, asked }, answers, words) {
    const given = answers !== null && typeof answers === "object" ? answers : {};
    if (Object.keys(given).length !== questions.length) refuse("the answers must be one for each question.");
    for (const { name, protocol } of questions) {
      if (!Object.hasOwn(given, name)) refuse("the answers must be one for each question.");
      if (KINDS[protocol.protocol].bounded) partOf(protocol, given[name]);
      else await placeOf(protocol, given[name]);
    }
    const chosen = new Set(shuffleFirst(questions.length, asked, words));
    const report = [];
    for (const [place, { name, protocol }] of questions.entries()) {
      if (chosen.has(place)) report.push([name, await drawOne(protocol, given[name], words)]);
    }
    return Object.fromEntries(report);
  }

  // A fresh report. Each call costs epsilon again: keep the report, and send those bytes again if need be.
  function randomize(protocol, value) {
    return draw(protocol, value, secureWords());
  }

  // --- the client ------------------------------------------------------------------------------------------

  // Keeps every report before it is sent, gives out the same bytes ever after, and keeps epsilon within two
  // limits. `storage` has getItem and setItem, as localStorage has.
  class Client {
    constructor(storage, { perSurvey, inAll }) {
      this.storage = storage;
      this.perSurvey = fraction(perSurvey);
      this.inAll = fraction(inAll);
    }

    read() {
      const text = this.storage.getItem("discreet-local");
      return text === null ? [] : JSON.parse(text);
    }

    // The bytes that were kept for this survey, or null.
    kept(survey, held = null) {
      const entry = this.read().find((each) => each.survey === survey && each.held === held);
      return entry === undefined ? null : entry.bytes;
    }

    // What all kept reports have cost together, as text.
    spent() {
      const [a, b] = total(this.read());
      const divisor = greatestCommonDivisor(a, b);
      return b === divisor ? String(a / divisor) : `${a / divisor}/${b / divisor}`;
    }

    // The bytes to send: those kept, or those of a fresh report, kept first. One tab at a time.
    answer(survey, protocol, value) {
      return this.alone(() => this.keep(survey, null, protocol, value));
    }

    // The same for a survey that asks again and again: one report for each value ever held, each of which costs
    // epsilon. That the value changed is not hidden: equal bytes show it.
    answerPermanently(survey, protocol, value) {
      return this.alone(() => this.keep(survey, JSON.stringify(value), protocol, value));
    }

    alone(work) {
      const locks = root.navigator && root.navigator.locks;
      return locks ? locks.request("discreet-local", work) : work();
    }

    async keep(survey, held, protocol, value) {
      const before = this.kept(survey, held);
      if (before !== null) return before;
      checkProtocol(protocol);
      this.checkLimits(survey, held, protocol);
      const report = await randomize(protocol, value);
      const bytes = JSON.stringify({ survey, report });
      // From here to setItem nothing else runs. While the report was drawn, other answers may have been kept.
      const meanwhile = this.kept(survey, held);
      if (meanwhile !== null) return meanwhile;
      this.checkLimits(survey, held, protocol);
      const entries = [...this.read(), { survey, held, epsilon: protocol.epsilon, bytes }];
      this.storage.setItem("discreet-local", JSON.stringify(entries));
      if (this.kept(survey, held) !== bytes) refuse("the report must be kept before it is sent, but was not stored.");
      return bytes;
    }

    checkLimits(survey, held, protocol) {
      const price = fraction(protocol.epsilon);
      const same = this.read().filter((each) => each.survey === survey);
      if (same.some((each) => (each.held === null) !== (held === null))) {
        refuse("a survey must be answered once or permanently, not both.");
      }
      if (!atMost(sum(total(same), price), this.perSurvey)) {
        refuse("the survey must cost at most what you allow for one survey.");
      }
      if (!atMost(sum(total(this.read()), price), this.inAll)) {
        refuse("the surveys together must cost at most what you allow in all.");
      }
    }
  }

  const total = (entries) => entries.map((entry) => fraction(entry.epsilon)).reduce(sum, [0n, 1n]);

  function greatestCommonDivisor(a, b) {
    return b === 0n ? a : greatestCommonDivisor(b, a % b);
  }

  const api = { Client, Refused, checkProtocol, randomize, _draw: draw };
  if (typeof module === "object" && module.exports) module.exports = api;
  else root.discreetLocal = api;
})(globalThis);
