import assert from 'node:assert/strict';
import {before, test} from 'node:test';
import {pretendBrowser} from './browser.js';
import {createTheme, getFieldDisplayName} from '@grafana/data';
import {eventsOf, regions} from '../src/annotations.js';
import {restored, setUpTransformations, transformed, withFieldOptions} from '../src/fields.js';
import {heatmap, legend, table, timeSeries} from '../src/frames.js';
import {replacer} from '../src/links.js';

before(pretendBrowser);

const SERIES = [
  {metric: {node: 'gpu-1', cluster: 'a'}, values: [[60, '1'], [120, 'NaN']]},
  {metric: {node: 'gpu/2', cluster: 'a'}, values: [[60, '+Inf']]},
];
const INSTANT = SERIES.map(({metric}, index) => ({metric, value: [60, String(index + 1)]}));

test('lines carry labels, names and the distance of their points', () => {
  const frames = timeSeries({refId: 'A', legendFormat: '{{node}} {{none}}'}, SERIES, 'up', 30);
  assert.deepEqual(frames.map((frame) => getFieldDisplayName(frame.fields[1], frame, frames)), ['gpu-1 ', 'gpu/2 ']);
  assert.deepEqual(frames[0].fields[0].values, [60000, 120000]);
  assert.equal(frames[0].fields[0].config.interval, 30000);
  assert.equal(frames[1].fields[1].values[0], Infinity);
  assert.equal(legend('__auto', {}, 'sum(up)'), 'sum(up)');
});

test('tables of several queries become one, with our titles in our order', async () => {
  setUpTransformations();
  const panel = {
    transformations: [
      {id: 'merge', options: {}},
      {id: 'organize', options: {excludeByName: {Time: true, cluster: true}, indexByName: {node: 0, 'Value #A': 1, 'Value #B': 2}, renameByName: {node: 'Node', 'Value #A': 'First', 'Value #B': 'Second'}}},
    ],
    fieldConfig: {defaults: {unit: 'bytes', custom: {align: 'auto'}}, overrides: [{matcher: {id: 'byName', options: 'First'}, properties: [{id: 'custom.hidden', value: true}, {id: 'links', value: [{title: 'x', url: '/d/b?var-node=${__data.fields.Node:percentencode}'}]}]}]},
  };
  const frames = await transformed(panel, [table({refId: 'A'}, INSTANT, 2), table({refId: 'B'}, INSTANT, 2)], (text) => text);
  const shown = {from: 'now-1h', to: 'now'};
  const state = {variables: [], chosen: {}, options: {}};
  const [found] = withFieldOptions(panel, frames, createTheme(), replacer(state, shown));
  assert.deepEqual(found.fields.map((field) => field.state.displayName), ['Node', 'First', 'Second']);
  assert.equal(found.fields[1].config.custom.hideFrom.viz, true);
  // Grafana's own code against evil addresses takes the percent signs out again; browsers put most of them back.
  assert.equal(found.fields[1].getLinks({valueRowIndex: 1})[0].href, '/d/b?var-node=gpu/2');
  assert.equal(found.fields[2].display(2048).text, '2');
  assert.equal(table({refId: 'A'}, INSTANT, 1).fields.at(-1).name, 'Value');
});

test('thresholds begin at minus infinity, in overrides too', () => {
  const limits = {mode: 'absolute', steps: [{color: 'a', value: null}, {color: 'b', value: 5}]};
  const found = restored({defaults: {thresholds: limits}, overrides: [{matcher: {}, properties: [{id: 'thresholds', value: limits}]}]});
  assert.equal(found.defaults.thresholds.steps[0].value, -Infinity);
  assert.equal(found.overrides[0].properties[0].value.steps[0].value, -Infinity);
  assert.equal(limits.steps[0].value, null);
  assert.equal(restored(undefined).defaults.thresholds.steps[1].value, 80);
});

test('buckets lose what the lower ones count, also where bounds change', () => {
  const result = [
    {metric: {le: '+Inf'}, values: [[60, '10'], [120, '10']]},
    {metric: {le: '1'}, values: [[60, '4']]},
    {metric: {le: '0.5'}, values: [[60, '1'], [120, '3']]},
  ];
  const [frame] = heatmap({refId: 'A'}, result, 60);
  assert.deepEqual(frame.fields.map((field) => field.name), ['Time', '0.5', '1', '+Inf']);
  assert.deepEqual(frame.fields.slice(1).map((field) => [...field.values]), [[1, 3], [3, null], [6, 7]]);
  assert.deepEqual(heatmap({refId: 'A'}, [], 60), []);
});

test('samples that follow each other are one event, and events of one color one region', () => {
  const annotation = {name: 'Alerts', iconColor: 'red', titleFormat: '{{alertname}}', textFormat: ''};
  const series = {metric: {alertname: 'Hot'}, values: [[60, '1'], [120, '1'], [180, '0'], [600, '1']]};
  const found = eventsOf(annotation, series, 60);
  assert.deepEqual(found.map(({from, to, title}) => [from, to, title]), [[60000, 120000, 'Hot'], [600000, 600000, 'Hot']]);
  assert.deepEqual(regions([...found, ...found]).length, 2);
});

test('links carry time range, variables, labels and values', () => {
  const state = {variables: [{name: 'cluster', includeAll: true, allValue: '.*'}], chosen: {cluster: ['a']}, options: {}};
  const replace = replacer(state, {from: '1', to: 'now'});
  const frames = withFieldOptions({fieldConfig: {}}, timeSeries({refId: 'A'}, SERIES, 'up', 30), createTheme(), replace);
  const scoped = frames[1].fields[1].state.scopedVars;
  assert.equal(replace('?${__url_time_range}&${cluster:queryparam}', {}), '?from=1&to=now&var-cluster=a');
  assert.equal(replace('${__field.labels.node:percentencode} ${__field.labels.none}|', scoped), 'gpu%2F2 |');
  assert.equal(replace('$cluster ${none}', {}), 'a ${none}');
  assert.equal(replace('${__all_variables}', {}), 'var-cluster=a');
});
