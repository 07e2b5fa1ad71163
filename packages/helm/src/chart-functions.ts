/** Inputs of a chart's templates other than its files and values. */
export interface ChartTraits {
  /** `.Capabilities`: versions of Kubernetes and of its APIs. */
  readonly usesCapabilities: boolean;
  /** `.Release` beyond names: its number, and whether it is the first. */
  readonly usesRevision: boolean;
  /** Functions that read the cluster or the network (`lookup`, `getHostByName`). */
  readonly outsideFunctions: readonly string[];
  /** Functions that give another result each time: random numbers, keys, the time. */
  readonly changingFunctions: readonly string[];
}

const OUTSIDE = ['lookup', 'getHostByName'];
const CHANGING = [
  'ago',
  'bcrypt',
  'encryptAES',
  'genCA',
  'genCAWithKey',
  'genPrivateKey',
  'genSelfSignedCert',
  'genSelfSignedCertWithKey',
  'genSignedCert',
  'genSignedCertWithKey',
  'htpasswd',
  'now',
  'randAlpha',
  'randAlphaNum',
  'randAscii',
  'randBytes',
  'randInt',
  'randNumeric',
  'shuffle',
  'uuidv4',
];

const ACTION = /\{\{[\s\S]*?\}\}/g;
/** `.Release` as a whole counts too. */
const REVISION = /\bRelease\b(?!\.(?:Name|Namespace|Service)\b)/;
const COMMENT = /^\{\{-?\s*\/\*/;
/** A string without an action in it, which `tpl` would run. */
const LITERAL = /"(?:\\.|(?!\{\{)[^"\\\n])*"|`(?:(?!\{\{)[^`])*`/g;
/** A word that is neither a field (`.Values.now`) nor a variable (`$now`) nor part of a longer one. */
const WORD = /(?<![\w.$-])[A-Za-z]\w*/g;

/**
 * Finds them by reading the template actions of all texts. `Capabilities` and `Release` count inside a string too, for
 * `index` takes them so; at worst that costs a needless check.
 *
 * @param texts everything that may hold template actions: templates, and values when the chart uses `tpl`
 */
export function chartTraits(texts: Iterable<string>): ChartTraits {
  const words = new Set<string>();
  let usesCapabilities = false;
  let usesRevision = false;
  for (const text of texts) {
    for (const [action] of text.matchAll(ACTION)) {
      if (COMMENT.test(action)) continue;
      usesCapabilities ||= action.includes('Capabilities');
      usesRevision ||= REVISION.test(action);
      for (const [word] of action.replace(LITERAL, '""').matchAll(WORD)) words.add(word);
    }
  }
  return {
    usesCapabilities,
    usesRevision,
    outsideFunctions: OUTSIDE.filter((name) => words.has(name)),
    changingFunctions: CHANGING.filter((name) => words.has(name)),
  };
}

/** Whether two renderings of the same inputs may differ. */
export function mayDifferByItself(traits: ChartTraits): boolean {
  const { usesRevision, outsideFunctions, changingFunctions } = traits;
  return usesRevision || outsideFunctions.length > 0 || changingFunctions.length > 0;
}
