// Builds the page and its script into the Python package, where the server of `gpuscope-generator preview` finds them.
import {cp, mkdir, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const target = join(here, '..', 'gpuscope_generator', 'preview', 'static');
const fresh = `${target}.new`;
// Where Grafana's styles look for their fonts, and the same fonts as their authors publish them.
const FONTS = {
  'inter/Inter-Regular.woff2': '@fontsource/inter/files/inter-latin-400-normal.woff2',
  'inter/Inter-Medium.woff2': '@fontsource/inter/files/inter-latin-500-normal.woff2',
  'inter/Inter-Italic.woff2': '@fontsource/inter/files/inter-latin-400-italic.woff2',
  'inter/Inter-MediumItalic.woff2': '@fontsource/inter/files/inter-latin-500-italic.woff2',
  'roboto/L0xTDF4xlVMF-BfR8bXMIhJHg45mwgGEFl0_3vrtSM1J-gEPT5Ese6hmHSh0mQ.woff2':
    '@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2',
};

/** The folder of the package that a bundled file belongs to. */
function packageOf(file) {
  const end = file.lastIndexOf('node_modules/') + 'node_modules/'.length;
  const parts = file.slice(end).split('/');
  return file.slice(0, end) + parts.slice(0, parts[0].startsWith('@') ? 2 : 1).join('/');
}

/** Name, version, license and license text of each package in the bundle. */
async function notices(folders) {
  const found = [];
  for (const name of [...folders].sort()) {
    const folder = join(here, name);
    const told = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? (await readFile(join(folder, file), 'utf8')).trim() : '';
    found.push(`${told.name} ${told.version} (${told.license ?? 'see below'})\n\n${text}`);
  }
  return `${found.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

await rm(fresh, {recursive: true, force: true});
await mkdir(join(fresh, 'build', 'img'), {recursive: true});
const {metafile} = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.jsx'],
  outfile: join(fresh, 'preview.js'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  minify: true,
  metafile: true,
  legalComments: 'none',
  define: {'process.env.NODE_ENV': '"production"', 'process.env.NODE_DEBUG': 'undefined', global: 'globalThis'},
  // Fonts and pictures belong to parts of the library that no panel uses, such as its code editor.
  loader: {'.svg': 'text', '.ttf': 'empty', '.woff': 'empty', '.woff2': 'empty', '.png': 'empty'},
  logLevel: 'warning',
});
const bundled = new Set(Object.keys(metafile.inputs).filter((file) => file.includes('node_modules/')).map(packageOf));
for (const [to, from] of Object.entries(FONTS)) {
  bundled.add(packageOf(`node_modules/${from}`));
  await cp(join(modules, from), join(fresh, 'fonts', to));
}
const icons = join(fresh, 'build', 'img', 'icons');
await cp(join(modules, '@grafana', 'ui', 'dist', 'public', 'img', 'icons'), icons, {recursive: true});
// The library uses this icon, and its package lacks it.
const right = await readFile(join(icons, 'unicons', 'angle-double-right.svg'), 'utf8');
await writeFile(join(icons, 'unicons', 'angle-double-left.svg'), right.replace('<svg', '<svg transform="scale(-1,1)"'));
await writeFile(join(fresh, 'THIRD-PARTY.txt'), await notices(bundled));
await cp(join(here, 'index.html'), join(fresh, 'index.html'));
// Put in place whole, so that a server never finds half of it.
await rm(target, {recursive: true, force: true});
await rename(fresh, target);
console.log(`built ${target}`);
