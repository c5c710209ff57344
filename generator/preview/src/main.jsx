import {useEffect, useMemo, useState} from 'react';
import {createRoot} from 'react-dom/client';
import {createTheme, ThemeContext} from '@grafana/data';
import {initPluginTranslations} from '@grafana/i18n';
import {GlobalStyles} from '@grafana/ui';
import {readAddress, writeAddress} from './address.js';
import {Board} from './Board.jsx';
import {setUpTransformations} from './fields.js';

async function read(path) {
  const answer = await fetch(path);
  const found = await answer.json();
  if (!answer.ok) {
    throw new Error(found.error ?? `${path}: status ${answer.status}`);
  }
  return found;
}

function Menu({menu, theme}) {
  return (
    <main style={{padding: 32, minHeight: '100vh', background: theme.colors.background.canvas, color: theme.colors.text.primary}}>
      <h1>GPU boards</h1>
      <p>Data from {menu.prometheus}.</p>
      {menu.boards.map((board) => (
        <p key={board.uid}>
          <a href={board.url} style={{color: theme.colors.text.link}}>{board.title}</a>
          <br />
          {board.description}
        </p>
      ))}
      <footer style={{color: theme.colors.text.secondary, fontSize: 12}}>Rendered with Grafana&apos;s UI library.</footer>
    </main>
  );
}

function App({menu, board}) {
  const [shown, setShown] = useState(() => readAddress(window.location.search, board));
  const theme = useMemo(() => createTheme({colors: {mode: shown.theme}}), [shown.theme]);
  useEffect(() => {
    const back = () => setShown(readAddress(window.location.search, board));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, [board]);
  const change = (part) => {
    const next = {...shown, ...part};
    window.history.pushState(null, '', writeAddress(next));
    setShown(next);
  };
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      {board ? (
        <Board board={board} boards={menu.boards} scrapeS={menu.scrape_s} shown={shown} onShown={change} theme={theme} />
      ) : (
        <Menu menu={menu} theme={theme} />
      )}
    </ThemeContext.Provider>
  );
}

async function start() {
  const root = createRoot(document.getElementById('root'));
  try {
    await initPluginTranslations('gpuscope', []);
    setUpTransformations();
    const menu = await read('/api/boards');
    const uid = /^\/d\/([^/]+)/.exec(window.location.pathname)?.[1];
    const board = uid ? await read(`/api/boards/${uid}`) : null;
    root.render(<App menu={menu} board={board} />);
  } catch (error) {
    root.render(<p role="alert" data-problem>{error.message}</p>);
  }
}

start();
