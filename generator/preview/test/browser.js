/** The little of a browser that Grafana's package asks for where nothing is drawn. While it loads it wants none. */
export function pretendBrowser() {
  globalThis.window ??= {performance, location: {href: 'http://localhost/', pathname: '/', search: '', origin: 'http://localhost'}};
  globalThis.navigator ??= {language: 'en-US', languages: ['en-US']};
}
