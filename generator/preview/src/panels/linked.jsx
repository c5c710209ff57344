/** What a click leads to, where there is a link. */
export function Linked({link, children, style}) {
  if (!link) {
    return <div style={style}>{children}</div>;
  }
  return (
    <a href={link.href} target={link.target} title={link.title} style={{...style, color: 'inherit', display: 'block'}}>
      {children}
    </a>
  );
}
