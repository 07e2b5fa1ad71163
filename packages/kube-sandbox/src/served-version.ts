/** Response of `/version`; clients parse `gitVersion`. */
export const VERSION = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.2+sandbox',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: `${process.platform}/${process.arch}`,
};
