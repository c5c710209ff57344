// Runs the tests of what needs no browser. Grafana's package is given to them in its form for Node.js.
import {spawnSync} from 'node:child_process';
import {readdir, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, 'node_modules', '.cache', `test-${process.pid}`);
const tests = (await readdir(join(here, 'test'))).filter((file) => file.endsWith('.test.js'));

await build({
  absWorkingDir: here,
  entryPoints: tests.map((file) => `test/${file}`),
  outdir: built,
  outExtension: {'.js': '.cjs'},
  bundle: true,
  platform: 'node',
  format: 'cjs',
  external: ['@grafana/*', 'rxjs'],
  loader: {'.jsx': 'jsx'},
  jsx: 'automatic',
  logLevel: 'warning',
});
const done = spawnSync(process.execPath, ['--test', ...tests.map((file) => join(built, file.replace(/js$/, 'cjs')))], {
  stdio: 'inherit',
});
await rm(built, {recursive: true, force: true});
process.exitCode = done.status ?? 1;
