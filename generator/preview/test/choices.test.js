import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {test} from 'node:test';
import {readAddress, refreshMs, writeAddress} from '../src/address.js';
import {rateInterval, seconds, step} from '../src/interval.js';
import {place, repeated, sections} from '../src/layout.js';
import {aligned, filled, ownVariables, stepOf} from '../src/query.js';
import {chosenOf, formatted, namesIn, settled} from '../src/variables.js';

const NODE = {name: 'node', multi: true, includeAll: true, allValue: '.+', type: 'query'};
const TOP = {name: 'top', multi: false, type: 'custom', current: {value: '5'}};

test('queries are filled as the command check fills them', () => {
  const cases = JSON.parse(readFileSync(process.env.FILLING_CASES, 'utf8'));
  assert.ok(cases.length > 5);
  for (const one of cases) {
    const variables = Object.keys(one.values).map((name) => ({name, multi: true, includeAll: true}));
    const state = {variables, chosen: one.values, options: {}};
    const own = ownVariables(one.range_s, one.step_s, one.scrape_s);
    assert.equal(filled(one.text, state, own), one.filled, one.text);
  }
  for (const one of JSON.parse(readFileSync(process.env.STEP_CASES, 'utf8'))) {
    assert.equal(step(one.range_s, one.points, one.least_s), one.step_s, JSON.stringify(one));
  }
});

test('All stands for its own value, a single choice goes in without escapes of expressions', () => {
  const state = {variables: [NODE, TOP], chosen: {node: ['$__all'], top: ['a.b']}, options: {node: ['x']}};
  assert.equal(filled('up{node=~"$node", t="$top"} ${node:regex} [[top]]', state, {}), 'up{node=~".+", t="a.b"} .+ a.b');
  assert.equal(filled('label_replace(x, "a", "$1", "b", "(.*)") $unknown', state, {}), 'label_replace(x, "a", "$1", "b", "(.*)") $unknown');
  assert.throws(() => filled('${node:glob}', {...state, chosen: {node: ['x']}}, {}), /glob/);
});

test('formats of variables', () => {
  const two = ['a b', "it's"];
  assert.equal(formatted(NODE, two, [], 'queryparam'), 'var-node=a%20b&var-node=it%27s');
  assert.equal(formatted(NODE, ['$__all'], [], 'queryparam'), 'var-node=%24__all');
  assert.equal(formatted(NODE, ['$__all'], ['a'], 'text'), 'All');
  assert.equal(formatted({...NODE, allValue: ''}, ['$__all'], ['a', 'b'], 'pipe'), 'a|b');
  assert.equal(formatted(NODE, two, [], 'csv'), "a b,it's");
  assert.equal(formatted(NODE, ['a/b'], [], 'percentencode'), 'a%2Fb');
  assert.deepEqual([...namesIn('$a ${b:raw} [[c]]')], ['a', 'b', 'c']);
});

test('what a board opens with', () => {
  assert.deepEqual(chosenOf(TOP), ['5']);
  assert.deepEqual(chosenOf(TOP, ['10', '20']), ['10']);
  assert.deepEqual(chosenOf({type: 'datasource'}), ['prometheus']);
  assert.deepEqual(settled(NODE, [], ['x']), ['$__all']);
  assert.deepEqual(settled({...NODE, includeAll: false}, [], ['x', 'y']), ['x']);
  // A link to something that is gone stays what it is.
  assert.deepEqual(settled(NODE, ['gone'], ['x']), ['gone']);
});

test('an address comes back as it was written', () => {
  const shown = {from: 'now-1h', to: 'now', refresh: '30s', theme: 'light', open: true, viewed: '7', chosen: {node: ['a', 'b'], cluster: ['$__all']}};
  assert.deepEqual(readAddress(writeAddress(shown)), shown);
  assert.equal(readAddress('', {time: {from: 'now-2d', to: 'now-1d'}}).from, 'now-2d');
  assert.deepEqual(['30s', '5m', '1h', '', 'x'].map(refreshMs), [30000, 300000, 3600000, 0, 0]);
});

test('distances of points', () => {
  assert.equal(seconds('1h30m'), 5400);
  assert.throws(() => seconds('soon'), /not a duration/);
  assert.equal(rateInterval(15, 30), 120);
  assert.deepEqual(aligned({start: 101, end: 199}, 60), [60, 180]);
  const range = {start: 0, end: 3600};
  assert.deepEqual(stepOf({interval: '30s'}, {}, 720, range, 15), {stepS: 30, scrapeS: 15});
  assert.deepEqual(stepOf({}, {interval: '1m'}, 720, range, 15), {stepS: 60, scrapeS: 60});
  assert.equal(ownVariables(3600, 0.5, 15).__interval, '500ms');
});

test('panels lie on the grid, and below the row that they belong to', () => {
  const at = place({x: 12, y: 5, w: 12, h: 4}, 1, 1200);
  assert.equal(Math.round(at.left + at.width), 1200);
  assert.deepEqual([at.top, at.height], [152, 144]);
  const panels = [
    {id: 1, type: 'stat', gridPos: {x: 0, y: 0, w: 3, h: 4}},
    {id: 2, type: 'row', title: 'Open', gridPos: {y: 4}, panels: []},
    {id: 3, type: 'stat', repeat: 'node', gridPos: {x: 0, y: 5, w: 24, h: 4}},
    {id: 4, type: 'row', title: 'Closed', gridPos: {y: 9}, panels: [{id: 5, type: 'stat', gridPos: {x: 0, y: 10, w: 3, h: 4}}]},
  ];
  const found = sections(repeated(panels, () => ['a', 'b']));
  assert.deepEqual(found.map((one) => one.panels.map((panel) => panel.id)), [[1], [3, 3], [5]]);
  assert.deepEqual(found[1].panels.map((panel) => [panel.scoped.node[0], panel.gridPos.x, panel.gridPos.w]), [['a', 0, 12], ['b', 12, 12]]);
});
