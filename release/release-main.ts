// `npm run release -- --registry HOST/PATH`: publishes the image and the chart as OCI artifacts.
import { parseArgs } from 'node:util';
import { debianPackages, isStep, oneOf, runScript } from './command-line.ts';
import { ENGINE_NAMES } from './engine.ts';
import { publish } from './publish.ts';

const USAGE = `npm run release -- --registry HOST/PATH [--plain-http] [--home URL] [--engine docker|podman|buildah] [--helm 3|4]
  [--with apt:python3,…] [--bases registry|local] [--debian-snapshot TIME] [--allow-changes] [--verbose]`;

await runScript('release', async (signal) => {
  const { values } = parseArgs({
    options: {
      registry: { type: 'string' },
      'plain-http': { type: 'boolean', default: false },
      home: { type: 'string' },
      engine: { type: 'string' },
      helm: { type: 'string' },
      with: { type: 'string' },
      bases: { type: 'string' },
      'debian-snapshot': { type: 'string' },
      'allow-changes': { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  if (values.registry === undefined) throw new Error(`--registry is missing\n${USAGE}`);
  const engine = oneOf('engine', values.engine, ENGINE_NAMES);
  const bases = oneOf('bases', values.bases, ['registry', 'local']);
  const debianSnapshot = values['debian-snapshot'];
  const onProgress = (message: string): void => console.log(`release: ${message}`);
  const published = await publish(
    {
      registry: values.registry,
      isPlainHttp: values['plain-http'],
      home: values.home,
      allowsChanges: values['allow-changes'],
      ...(engine === undefined ? {} : { engine }),
      ...(bases === undefined ? {} : { bases }),
      ...(debianSnapshot === undefined ? {} : { debianSnapshot }),
      helmMajor: oneOf('helm', values.helm, ['3', '4']) === '3' ? 3 : 4,
      extraPackages: debianPackages(values.with),
      onProgress,
      onLine: (line) => {
        if (values.verbose || isStep(line)) onProgress(line);
      },
    },
    signal,
  );
  onProgress(`image ${published.image}`);
  onProgress(`chart ${published.chart}`);
});
