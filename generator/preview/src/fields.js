// Field options, overrides and transformations: Grafana's own code does them; here is what it wants to be told.
import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  FieldConfigOptionsRegistry,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from '@grafana/data';
import {lastValueFrom} from 'rxjs';

const STANDARD = [
  'unit', 'min', 'max', 'decimals', 'displayName', 'noValue', 'color', 'thresholds', 'mappings', 'links', 'filterable',
  'description', 'fieldMinMax',
];

/** Makes the transformations known that Grafana publishes. */
export function setUpTransformations() {
  const known = new Map();
  for (const one of Object.values(standardTransformers)) {
    if (one?.id) {
      known.set(one.id, one);
    }
  }
  standardTransformersRegistry.setInit(() =>
    [...known.values()].map((one) => ({
      id: one.id,
      name: one.name ?? one.id,
      transformation: () => Promise.resolve(one),
      editor: () => null,
      imageDark: '',
      imageLight: '',
    }))
  );
}

function withBase(thresholds) {
  const steps = thresholds?.steps;
  // JSON has no infinity: Grafana writes null for the base, and reads it so.
  return steps?.length ? {...thresholds, steps: [{...steps[0], value: -Infinity}, ...steps.slice(1)]} : thresholds;
}

const GREEN_TO_RED = {mode: 'absolute', steps: [{value: -Infinity, color: 'green'}, {value: 80, color: 'red'}]};

/** The field configuration of a panel with what Grafana restores or migrates when it loads a board. */
export function restored(fieldConfig) {
  const defaults = {...fieldConfig?.defaults};
  defaults.thresholds = withBase(defaults.thresholds) ?? GREEN_TO_RED;
  defaults.color ??= {mode: 'thresholds'};
  const overrides = (fieldConfig?.overrides ?? []).map((override) => ({
    ...override,
    properties: override.properties.map((property) => {
      if (property.id === 'thresholds') {
        return {...property, value: withBase(property.value)};
      }
      if (property.id === 'custom.hidden') {
        return {id: 'custom.hideFrom.viz', value: property.value};
      }
      return property;
    }),
  }));
  return {defaults, overrides};
}

function item(id) {
  const isCustom = id.startsWith('custom.');
  return {
    id,
    path: isCustom ? id.slice('custom.'.length) : id,
    name: id,
    isCustom,
    process: (value) => value,
    shouldApply: () => true,
    override: () => null,
    editor: () => null,
    settings: {},
  };
}

function registry(config) {
  const ids = new Set(STANDARD);
  Object.keys(config.defaults.custom ?? {}).forEach((key) => ids.add(`custom.${key}`));
  config.overrides.forEach((override) => override.properties.forEach((property) => ids.add(property.id)));
  return new FieldConfigOptionsRegistry(() => [...ids].map(item));
}

/** Frames after the transformations of a panel. */
export async function transformed(panel, frames, interpolate) {
  const steps = (panel.transformations ?? []).filter((step) => !step.disabled);
  return steps.length ? lastValueFrom(transformDataFrame(steps, frames, {interpolate})) : frames;
}

/** Frames with unit, color, links and so on of a panel. */
export function withFieldOptions(panel, frames, theme, replaceVariables) {
  const config = restored(panel.fieldConfig);
  const shown = applyFieldOverrides({
    data: frames,
    fieldConfig: config,
    theme,
    replaceVariables,
    timeZone: 'browser',
    fieldConfigRegistry: registry(config),
  });
  // Tables read the names from there.
  cacheFieldDisplayNames(shown);
  return shown;
}
