import {getDisplayValueAlignmentFactors, VizOrientation} from '@grafana/data';
import {BarGauge as Bar, VizRepeater} from '@grafana/ui';
import {figures, firstLink} from './values.js';
import {Linked} from './linked.jsx';

/** A bar a value. */
export function BarGauge(props) {
  const {panel, width, height, theme, data} = props;
  const options = panel.options;
  const values = figures(props);
  return (
    <VizRepeater
      getValues={() => values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      source={data}
      renderCounter={0}
      width={width}
      height={height}
      minVizWidth={options.minVizWidth ?? 8}
      minVizHeight={options.minVizHeight ?? 16}
      maxVizHeight={options.maxVizHeight ?? 300}
      itemSpacing={options.displayMode === 'lcd' ? 2 : 10}
      orientation={options.orientation ?? VizOrientation.Horizontal}
      renderValue={({value, width: w, height: h, orientation, alignmentFactors}) => (
        <Linked link={firstLink(value)}>
          <Bar
            value={value.display}
            field={value.field}
            display={value.view?.getFieldDisplayProcessor(value.colIndex)}
            alignmentFactors={alignmentFactors}
            width={w}
            height={h}
            orientation={orientation}
            displayMode={options.displayMode}
            valueDisplayMode={options.valueMode}
            namePlacement={options.namePlacement}
            showUnfilled={options.showUnfilled}
            text={options.text}
            theme={theme}
          />
        </Linked>
      )}
    />
  );
}
