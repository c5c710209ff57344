import {useLayoutEffect} from 'react';
import {FieldType, formattedValueToString, getFieldDisplayName, dateTimeFormat} from '@grafana/data';
import {TimeSeries as Lines, TooltipPlugin2} from '@grafana/ui';
import {regions} from '../annotations.js';

const X_ALL = 1;
const MOST_ROWS = 20;

function Annotations({builder, events, theme}) {
  useLayoutEffect(() => {
    builder.addHook('draw', (plot) => {
      const {ctx, bbox} = plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height + 8);
      ctx.clip();
      for (const event of regions(events())) {
        const color = theme.visualization.getColorByName(event.color);
        const from = plot.valToPos(event.from, 'x', true);
        const to = plot.valToPos(event.to, 'x', true);
        ctx.strokeStyle = color;
        ctx.fillStyle = color;
        ctx.lineWidth = 2;
        ctx.setLineDash([5, 5]);
        ctx.beginPath();
        ctx.moveTo(from, bbox.top);
        ctx.lineTo(from, bbox.top + bbox.height);
        ctx.stroke();
        ctx.fillRect(from - 3, bbox.top + bbox.height, Math.max(6, to - from), 6);
        if (to - from > 2) {
          ctx.globalAlpha = 0.08;
          ctx.fillRect(from, bbox.top, to - from, bbox.height);
          ctx.globalAlpha = 1;
        }
      }
      ctx.restore();
    });
  }, [builder]);
  return null;
}

function Hover({frame, at, events, theme}) {
  const index = at.find((one) => one !== null && one !== undefined);
  if (index === undefined) {
    return null;
  }
  const time = frame.fields[0].values[index];
  const rows = frame.fields
    .slice(1)
    .map((field) => ({field, value: field.values[index]}))
    .filter(({field, value}) => value !== null && value !== undefined && field.type === FieldType.number)
    .sort((a, b) => b.value - a.value);
  const near = events().filter((event) => time >= event.from - 30000 && time <= event.to + 30000);
  return (
    <div style={{padding: 8, fontSize: 12}}>
      <div style={{color: theme.colors.text.secondary}}>{dateTimeFormat(time)}</div>
      {near.map((event, position) => (
        <div key={position} style={{color: theme.visualization.getColorByName(event.color)}}>
          {event.title} {event.text}
        </div>
      ))}
      {rows.slice(0, MOST_ROWS).map(({field, value}) => {
        const shown = field.display(value);
        return (
          <div key={field.state?.displayName ?? field.name} style={{display: 'flex', gap: 8}}>
            <span style={{color: shown.color}}>■</span>
            <span style={{flex: 1}}>{getFieldDisplayName(field, frame)}</span>
            <b>{formattedValueToString(shown)}</b>
          </div>
        );
      })}
      {rows.length > MOST_ROWS && <div>and {rows.length - MOST_ROWS} more</div>}
    </div>
  );
}

/** Lines, areas or bars over time, with the events of the board. */
export function TimeSeries({panel, data, width, height, timeRange, theme, events, revision, onZoom}) {
  return (
    <Lines
      frames={data}
      structureRev={revision}
      timeRange={timeRange}
      timeZone="browser"
      width={width}
      height={height}
      legend={{calcs: [], ...panel.options.legend}}
      options={panel.options}
    >
      {(builder, frame) => (
        <>
          <Annotations builder={builder} events={events} theme={theme} />
          <TooltipPlugin2
            config={builder}
            hoverMode={X_ALL}
            queryZoom={onZoom}
            maxWidth={420}
            render={(_plot, at) => <Hover frame={frame} at={at} events={events} theme={theme} />}
          />
        </>
      )}
    </Lines>
  );
}
