import {FieldType} from '@grafana/data';

/** Lines with their times: a stand-in for the panel of logs. */
export function Logs({data, height, theme}) {
  const lines = data.flatMap((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    const text = frame.fields.find((field) => field.type === FieldType.string);
    return text ? text.values.map((line, index) => ({at: time?.values[index], line})) : [];
  });
  return (
    <div style={{height, overflow: 'auto', fontFamily: theme.typography.fontFamilyMonospace, fontSize: 12}}>
      {lines.map(({at, line}, index) => (
        <div key={index}>
          <span style={{color: theme.colors.text.secondary, marginRight: 8}}>{at ? new Date(at).toISOString() : ''}</span>
          {line}
        </div>
      ))}
    </div>
  );
}
