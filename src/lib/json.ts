export {
  canonicalJson,
  fieldsOf,
  hasLongDigits,
  isObject,
  isRawJson,
  type Json,
  type JsonObject,
  parseJson,
  parseJsonVerbatim,
  parseSecretJson,
  textOf,
  textsOf,
} from '@addon-operator/json';
