import { lintModule, reportText } from '@addon-operator/module-lint';

const report = lintModule(
  {
    directory: 'modules/030-web',
    directoryName: '030-web',
    files: [
      { path: 'hooks', type: 'directory', isExecutable: false, sizeBytes: 0 },
      { path: 'hooks/pods.sh', type: 'file', isExecutable: false, sizeBytes: 10, text: '#!/bin/sh\n' },
      { path: 'template', type: 'directory', isExecutable: false, sizeBytes: 0 },
    ],
    parsed: {
      problems: [],
      name: 'web',
      key: 'web',
      requires: [{ name: 'database', version: undefined, isOptional: false }],
      siblings: [],
      chart: 'none',
      values: {},
      chartFiles: [],
      hookFiles: [],
      hooks: [],
      renderings: [],
    },
  },
  { rules: [] },
);
console.log(reportText('text', [report]));
