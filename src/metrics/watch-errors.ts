/** The label under which each end of a watch is counted; undefined for the regular end, which is no error. */
export const WATCH_ERRORS = {
  closed: undefined,
  early: 'eof',
  expired: 'expired',
  gone: 'fail',
  idle: 'nil',
  broken: 'unexpected-eof',
  failed: 'fail',
} as const;
