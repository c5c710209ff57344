import {formattedValueToString, VizOrientation} from '@grafana/data';
import {VizRepeater} from '@grafana/ui';
import {figures, firstLink} from './values.js';
import {Linked} from './linked.jsx';

const TURN = Math.PI * 1.3;

function point(cx, cy, radius, share) {
  const angle = -Math.PI / 2 - TURN / 2 + TURN * share;
  return `${cx + radius * Math.cos(angle)} ${cy + radius * Math.sin(angle)}`;
}

function arc(cx, cy, radius, from, to) {
  const large = (to - from) * TURN > Math.PI ? 1 : 0;
  return `M ${point(cx, cy, radius, from)} A ${radius} ${radius} 0 ${large} 1 ${point(cx, cy, radius, to)}`;
}

function shareOf(value, low, high) {
  return Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
}

/** The bands of the thresholds on the scale, as [from, to, color] in shares of it. */
export function bands(field, low, high, theme) {
  const steps = field.thresholds?.steps ?? [];
  const percent = field.thresholds?.mode === 'percentage';
  const at = (value) => (percent ? Math.min(1, Math.max(0, value / 100)) : shareOf(value, low, high));
  return steps
    .map((step, index) => [
      index ? at(step.value) : 0,
      index + 1 < steps.length ? at(steps[index + 1].value) : 1,
      theme.visualization.getColorByName(step.color),
    ])
    .filter(([from, to]) => to > from);
}

function One({value, width, height, theme, markers}) {
  const {display, field} = value;
  const low = field.min ?? 0;
  const high = field.max ?? 100;
  const radius = Math.max(10, Math.min(width / 2, height / 1.75) - 12);
  const [cx, cy, thick] = [width / 2, radius + 10, radius * 0.22];
  const known = Number.isFinite(display.numeric);
  const share = known ? shareOf(display.numeric, low, high) : 0;
  const text = formattedValueToString(display);
  const fits = Math.min(radius * 0.42, (radius * 2.4) / Math.max(4, text.length));
  return (
    <svg width={width} height={height} role="img" aria-label={text}>
      <path
        d={arc(cx, cy, radius - thick / 2 - 5, 0, 1)}
        stroke={theme.colors.background.secondary}
        strokeWidth={thick}
        fill="none"
      />
      {known && share > 0 && (
        <path d={arc(cx, cy, radius - thick / 2 - 5, 0, share)} stroke={display.color} strokeWidth={thick} fill="none" />
      )}
      {markers &&
        bands(field, low, high, theme).map(([from, to, color]) => (
          <path key={from} d={arc(cx, cy, radius, from, to)} stroke={color} strokeWidth={4} fill="none" />
        ))}
      <text x={cx} y={cy + fits / 3} textAnchor="middle" fontSize={fits} fontWeight={500} fill={theme.colors.text.primary}>
        {text}
      </text>
      {display.title && (
        <text x={cx} y={Math.min(height - 4, cy + radius * 0.72)} textAnchor="middle" fontSize={12} fill={theme.colors.text.primary}>
          {display.title}
        </text>
      )}
    </svg>
  );
}

/** Numbers on a round scale: a stand-in, as Grafana publishes none. */
export function Gauge(props) {
  const {panel, width, height, theme, data} = props;
  const values = figures(props);
  return (
    <VizRepeater
      getValues={() => values}
      source={data}
      renderCounter={0}
      width={width}
      height={height}
      autoGrid
      orientation={panel.options.orientation ?? VizOrientation.Auto}
      renderValue={({value, width: w, height: h}) => (
        <Linked link={firstLink(value)}>
          <One
            value={values.length > 1 ? value : {...value, display: {...value.display, title: ''}}}
            width={w}
            height={h}
            theme={theme}
            markers={panel.options.showThresholdMarkers}
          />
        </Linked>
      )}
    />
  );
}
