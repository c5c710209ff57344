// Draws pages of the preview in headless Chromium and tells what stands on them.
// node look.mjs PLAN.json: {chromium, pages: [{name, url, width, height, picture, whole}]}; one line of JSON a page.
import {readFile} from 'node:fs/promises';
import process from 'node:process';
import {chromium} from 'playwright-core';

const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--font-render-hinting=none',
];
const LONGEST_MS = 120000;
const STILL_MS = 1500;
const HIGHEST = 16000;

function panelsOf() {
  return [...document.querySelectorAll('[data-panel]')].map((one) => ({
    id: one.dataset.panel,
    title: one.getAttribute('aria-label'),
    kind: one.dataset.kind,
    state: one.dataset.state,
    message: one.dataset.message,
  }));
}

function problemsOf() {
  return [
    ...[...document.querySelectorAll('[data-problem]')].map((one) => one.textContent),
    ...[...document.querySelectorAll('[data-variable][data-error]')].map((one) => `variable ${one.dataset.variable}: ${one.dataset.error}`),
  ];
}

function isSettled() {
  const panels = [...document.querySelectorAll('[data-panel]')];
  const failed = document.querySelector('[data-problem]');
  const drawn = panels.length > 0 || document.querySelector('[data-row]');
  return failed || (drawn && panels.every((one) => one.dataset.state !== 'loading'));
}

async function look(browser, wanted) {
  const page = await browser.newPage({viewport: {width: wanted.width, height: wanted.height}, timezoneId: 'UTC'});
  const console = [];
  page.on('console', (message) => {
    if (message.type() === 'error') {
      console.push(message.text());
    }
  });
  page.on('pageerror', (error) => console.push(String(error.stack ?? error)));
  // Queries that fail have their own state; the browser's line about them says less.
  page.on('response', (answer) => {
    if (answer.status() >= 400 && !answer.url().includes('/api/v1/')) {
      console.push(`${answer.status()} ${answer.url()}`);
    }
  });
  const began = Date.now();
  let settled = true;
  try {
    await page.goto(wanted.url, {timeout: LONGEST_MS});
    await page.waitForFunction(isSettled, null, {timeout: LONGEST_MS});
    if (wanted.whole) {
      // Tables draw their rows only where they can be seen.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({width: wanted.width, height: Math.min(height, HIGHEST)});
    }
    // Data is there: what is drawn from it follows.
    await page.waitForTimeout(STILL_MS);
    await page.waitForFunction(isSettled, null, {timeout: LONGEST_MS});
  } catch (error) {
    settled = false;
    console.push(`not ready after ${LONGEST_MS / 1000} s: ${error.message.split('\n')[0]}`);
  }
  const tookMs = Date.now() - began;
  if (wanted.picture) {
    await page.screenshot({path: wanted.picture, fullPage: Boolean(wanted.whole)});
  }
  const found = {
    name: wanted.name,
    settled,
    took_s: tookMs / 1000,
    panels: await page.evaluate(panelsOf),
    problems: await page.evaluate(problemsOf),
    // A query that fails is told by its panel.
    console: console.filter((text) => !/Failed to load resource.*(4\d\d|5\d\d)/.test(text)),
  };
  await page.close();
  return found;
}

const plan = JSON.parse(await readFile(process.argv[2], 'utf8'));
const browser = await chromium.launch({executablePath: plan.chromium, args: ARGUMENTS});
try {
  for (const wanted of plan.pages) {
    process.stdout.write(`${JSON.stringify(await look(browser, wanted))}\n`);
  }
} finally {
  await browser.close();
}
