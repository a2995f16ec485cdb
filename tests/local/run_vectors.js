// Runs in Node: the committed vectors, the client's refusals, the speed, and reports for an audit.
"use strict";
const fs = require("fs");
const path = require("path");
const SCRIPT = path.join(__dirname, "../../src/discreet/asking/local/browser/discreet-local.js");
let local = require(SCRIPT);

// The same client with faults planted: pairs of what stands in the script, just once, and what shall stand there.
function plant(faults) {
  let text = fs.readFileSync(SCRIPT, "utf8");
  for (const [old, changed] of faults) {
    if (text.split(old).length !== 2) throw new Error(`the script must hold just once: ${old}`);
    text = text.replace(old, () => changed);
  }
  const planted = { exports: {} };
  new Function("module", text)(planted);
  local = planted.exports;
}

function tape(words) {
  const left = words.map((word) => BigInt(`0x${word}`));
  const next = () => {
    if (left.length === 0) throw new Error("the tape has ended");
    return left.shift();
  };
  next.left = () => left.length;
  return next;
}

async function vectors() {
  const groups = JSON.parse(fs.readFileSync(path.join(__dirname, "vectors.json"), "utf8"));
  let same = 0;
  for (const { protocol, cases } of groups) {
    for (const { value, words, report } of cases) {
      const source = tape(words);
      const found = await local._draw(protocol, value, source);
      if (JSON.stringify(found) !== JSON.stringify(report) || source.left() !== 0) {
        throw new Error(`${JSON.stringify(protocol).slice(0, 300)} ${JSON.stringify(value)}: ${found} is not ${report}`);
      }
      same += 1;
    }
  }
  return { same };
}

async function reports({ protocol, value, count }) {
  const found = [];
  for (let i = 0; i < count; i += 1) found.push(await local.randomize(protocol, value));
  return found;
}

async function speed({ protocol, value, count }) {
  await reports({ protocol, value, count: 2000 });
  const start = process.hrtime.bigint();
  await reports({ protocol, value, count });
  return { microseconds: Number(process.hrtime.bigint() - start) / 1000 / count };
}

function refused({ protocol }) {
  try {
    local.checkProtocol(protocol);
    return { refused: false };
  } catch (error) {
    return { refused: error instanceof local.Refused };
  }
}

async function client({ protocol, other, value }) {
  const kept = {};
  const storage = { getItem: (key) => kept[key] ?? null, setItem: (key, text) => { kept[key] = text; } };
  const limits = { perSurvey: "1", inAll: "3/2" };
  const one = new local.Client(storage, limits);
  const both = await Promise.all([one.answer("socks", protocol, value), one.answer("socks", protocol, value)]);
  const stored = JSON.parse(kept["discreet-local"])[0].bytes;
  const again = [];
  for (let i = 0; i < 50; i += 1) again.push(await new local.Client(storage, limits).answer("socks", protocol, other));
  const refusals = [];
  const attempt = async (work) => {
    try {
      await work();
      refusals.push(false);
    } catch (error) {
      refusals.push(error instanceof local.Refused);
    }
  };
  await attempt(() => one.answer("second", protocol, value)); // 1 + 1 > 3/2
  await attempt(() => new local.Client(storage, { perSurvey: "1/2", inAll: "9" }).answer("third", protocol, value));
  const deaf = { getItem: () => null, setItem: () => {} };
  await attempt(() => new local.Client(deaf, limits).answer("socks", protocol, value)); // nothing is kept
  return { bytes: [...new Set([...both, stored, ...again])], spent: one.spent(), refusals };
}

// Different surveys at once, without locks: together they must keep the limit.
async function crowd({ protocol, value }) {
  const kept = {};
  const storage = { getItem: (key) => kept[key] ?? null, setItem: (key, text) => { kept[key] = text; } };
  const one = new local.Client(storage, { perSurvey: "1", inAll: "3" });
  one.alone = (work) => work();
  const surveys = Array.from({ length: 10 }, (_, i) => one.answer(`survey ${i}`, protocol, value));
  const ended = await Promise.allSettled(surveys);
  return { sent: ended.filter((each) => each.status === "fulfilled").length, spent: one.spent() };
}

async function attempts({ protocol, values }) {
  const refused = [];
  for (const value of values) {
    try {
      await local.randomize(protocol, value);
      refused.push(false);
    } catch (error) {
      refused.push(error instanceof local.Refused);
    }
  }
  return refused;
}

async function permanent({ protocol, values }) {
  const kept = {};
  const storage = { getItem: (key) => kept[key] ?? null, setItem: (key, text) => { kept[key] = text; } };
  const one = new local.Client(storage, { perSurvey: "2", inAll: "9" });
  const sent = [];
  for (let i = 0; i < 40; i += 1) sent.push(await one.answerPermanently("mood", protocol, values[i % 2]));
  let refused = 0;
  for (const work of [() => one.answerPermanently("mood", protocol, values[2]), () => one.answer("mood", protocol, values[0])]) {
    try {
      await work();
    } catch (error) {
      refused += error instanceof local.Refused ? 1 : 0;
    }
  }
  return { even: new Set(sent.filter((_, i) => i % 2 === 0)).size, odd: new Set(sent.filter((_, i) => i % 2)).size, spent: one.spent(), refused };
}

// What one device sends for two values that it holds in turn, for many devices.
async function devices({ protocol, value, count }) {
  const found = [];
  for (let i = 0; i < count; i += 1) {
    const kept = {};
    const storage = { getItem: (key) => kept[key] ?? null, setItem: (key, text) => { kept[key] = text; } };
    const one = new local.Client(storage, { perSurvey: "99", inAll: "99" });
    const sent = [];
    for (const held of value) sent.push(JSON.parse(await one.answerPermanently("mood", protocol, held)).report);
    found.push(sent);
  }
  return found;
}

const commands = { attempts, crowd, devices, permanent, vectors, reports, speed, refused, client };
const [, , name, text] = process.argv;
const given = JSON.parse(text ?? "{}");
if (given.faults) plant(given.faults);
Promise.resolve(commands[name](given)).then(
  (found) => console.log(JSON.stringify(found)),
  (error) => {
    console.error(error.message);
    process.exit(1);
  },
);
