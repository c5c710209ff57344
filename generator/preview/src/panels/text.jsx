import {renderTextPanelMarkdown, textUtil} from '@grafana/data';

/** Prose in Markdown or HTML. */
export function Text({panel, replaceVariables, height}) {
  const {mode, content} = panel.options;
  const filled = replaceVariables(content ?? '');
  const html = mode === 'markdown' ? renderTextPanelMarkdown(filled) : textUtil.sanitizeTextPanelContent(filled);
  return (
    <div
      className="markdown-html"
      style={{height, overflow: 'auto', padding: 4}}
      dangerouslySetInnerHTML={{__html: html}}
    />
  );
}
