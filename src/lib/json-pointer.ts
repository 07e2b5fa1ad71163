export {
  escapeSegment,
  formatPointer,
  parsePointer,
  unescapeSegment,
  valueAt,
} from '@addon-operator/json/pointer';
