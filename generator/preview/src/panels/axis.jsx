import {dateTimeFormat} from '@grafana/data';

const STEPS_S = [
  1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000,
];

/** Round times for the marks of an axis, in milliseconds. */
export function marks(from, to, most) {
  const step = 1000 * (STEPS_S.find((one) => (to - from) / (one * 1000) <= most) ?? 31536000);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    found.push(at);
  }
  return found;
}

/** The axis of time under panels that are drawn here. */
export function TimeAxis({from, to, left, width, top, theme}) {
  const format = to - from > 86400000 ? 'MM/DD HH:mm' : to - from < 600000 ? 'HH:mm:ss' : 'HH:mm';
  return (
    <g fontSize={11} fill={theme.colors.text.secondary}>
      {marks(from, to, Math.max(2, Math.floor(width / 90))).map((at) => (
        <text key={at} x={left + ((at - from) / (to - from)) * width} y={top} textAnchor="middle">
          {dateTimeFormat(at, {format})}
        </text>
      ))}
    </g>
  );
}
