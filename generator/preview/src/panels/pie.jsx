import {formattedValueToString} from '@grafana/data';
import {VizLegend, VizLayout} from '@grafana/ui';
import {figures, firstLink} from './values.js';

function slice(r, from, to, inner) {
  const whole = to - from >= 0.999999;
  const end = whole ? to - 1e-5 : to;
  const at = (radius, share) =>
    `${radius * Math.sin(share * 2 * Math.PI)} ${-radius * Math.cos(share * 2 * Math.PI)}`;
  const large = end - from > 0.5 ? 1 : 0;
  const back = inner ? `L ${at(inner, end)} A ${inner} ${inner} 0 ${large} 0 ${at(inner, from)}` : 'L 0 0';
  return `M ${at(r, from)} A ${r} ${r} 0 ${large} 1 ${at(r, end)} ${back} Z`;
}

/** Shares of a whole, as [{value, from, to}]; what is not above zero has no slice. */
export function shares(values) {
  const sum = values.reduce((total, one) => total + Math.max(0, one.display.numeric || 0), 0);
  let from = 0;
  return values.map((value) => {
    const share = sum ? Math.max(0, value.display.numeric || 0) / sum : 0;
    const found = {value, share, from, to: from + share};
    from += share;
    return found;
  });
}

function legendItems(parts, options) {
  const wanted = options.legend?.values ?? [];
  return parts.map(({value, share}, index) => ({
    label: value.display.title ?? '',
    color: value.display.color,
    yAxis: 1,
    getItemKey: () => `${index}`,
    getDisplayValues: () => [
      ...(wanted.includes('value') ? [{...value.display, title: 'Value'}] : []),
      ...(wanted.includes('percent') ? [{numeric: share, percent: share, text: `${Math.round(share * 100)}%`, title: 'Percent'}] : []),
    ],
  }));
}

/** A pie or a ring: a stand-in, as Grafana publishes none. */
export function Pie(props) {
  const {panel, width, height, theme} = props;
  const options = panel.options;
  const parts = shares(figures(props).filter((value) => Number.isFinite(value.display.numeric)));
  const legend = options.legend?.showLegend && (
    <VizLayout.Legend placement={options.legend.placement} maxWidth="60%">
      <VizLegend
        placement={options.legend.placement}
        displayMode={options.legend.displayMode}
        items={legendItems(parts, options)}
      />
    </VizLayout.Legend>
  );
  return (
    <VizLayout width={width} height={height} legend={legend || null}>
      {(w, h) => {
        const r = Math.max(10, Math.min(w, h) / 2 - 6);
        const inner = options.pieType === 'donut' ? r * 0.6 : 0;
        return (
          <svg width={w} height={h} role="img" viewBox={`${-w / 2} ${-h / 2} ${w} ${h}`}>
            {parts.filter((part) => part.share > 0).map((part) => {
              const middle = (part.from + part.to) * Math.PI;
              const label = `${Math.round(part.share * 100)}%`;
              const link = firstLink(part.value);
              const drawn = (
                <g key={part.from}>
                  <path d={slice(r, part.from, part.to, inner)} fill={part.value.display.color} stroke={theme.colors.background.primary}>
                    <title>{`${part.value.display.title}: ${formattedValueToString(part.value.display)} (${label})`}</title>
                  </path>
                  {options.displayLabels?.includes('percent') && part.share > 0.04 && (
                    <text
                      x={Math.sin(middle) * (r + inner) * (inner ? 0.5 : 0.35)}
                      y={-Math.cos(middle) * (r + inner) * (inner ? 0.5 : 0.35) + 4}
                      textAnchor="middle"
                      fontSize={11}
                      fill={theme.colors.getContrastText(part.value.display.color)}
                    >
                      {label}
                    </text>
                  )}
                </g>
              );
              return link ? <a key={part.from} href={link.href}>{drawn}</a> : drawn;
            })}
          </svg>
        );
      }}
    </VizLayout>
  );
}
