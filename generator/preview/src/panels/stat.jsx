import {VizOrientation} from '@grafana/data';
import {BigValue, BigValueTextMode, VizRepeater} from '@grafana/ui';
import {figures, firstLink} from './values.js';
import {Linked} from './linked.jsx';

/** Large numbers. */
export function Stat(props) {
  const {panel, width, height, theme, data} = props;
  const options = panel.options;
  const values = figures(props, {sparkline: options.graphMode === 'area'});
  const auto = values.length > 1 ? BigValueTextMode.ValueAndName : BigValueTextMode.Auto;
  return (
    <VizRepeater
      getValues={() => values}
      source={data}
      renderCounter={0}
      width={width}
      height={height}
      itemSpacing={3}
      autoGrid
      orientation={options.orientation ?? VizOrientation.Auto}
      renderValue={({value, width: w, height: h, count}) => (
        <Linked link={firstLink(value)}>
          <BigValue
            value={value.display}
            count={count}
            sparkline={value.sparkline}
            colorMode={options.colorMode}
            graphMode={options.graphMode}
            justifyMode={options.justifyMode}
            textMode={options.textMode === 'auto' ? auto : options.textMode}
            wideLayout={options.wideLayout}
            width={w}
            height={h}
            theme={theme}
          />
        </Linked>
      )}
    />
  );
}
