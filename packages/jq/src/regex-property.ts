// Named sets of characters: POSIX brackets and Unicode properties. Oniguruma ignores case, spaces and
// underscores in their names and knows more aliases than JavaScript, so names are mapped here. A property
// that JavaScript does not know is an error that says whether it exists in Oniguruma.

import { regexFailure, unsupported } from './pattern-reader.ts';

/** Unlike `\s` of JavaScript with U+0085 and without U+FEFF. */
export const SPACE = '\\t-\\r\\x85\\p{Z}';

const GRAPH = '[^\\p{White_Space}\\p{Cc}\\p{Cn}\\p{Cs}]';

/** The contents of POSIX brackets such as `[:alpha:]`, for the inside of a class. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{Alphabetic}\\p{Nd}',
  alpha: '\\p{Alphabetic}',
  ascii: '\\x00-\\x7f',
  blank: '\\p{Zs}\\t',
  cntrl: '\\p{Cc}',
  digit: '\\p{Nd}',
  graph: GRAPH,
  lower: '\\p{Lowercase}',
  print: `${GRAPH}\\p{Zs}`,
  punct: '\\p{P}\\p{S}',
  space: SPACE,
  upper: '\\p{Uppercase}',
  word: '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}',
  xdigit: '0-9a-fA-F',
};

export const WORD = POSIX_CLASSES['word'] ?? '';
/** `\w` outside of classes, and `\p{word}`, match some more. */
export const WIDE_WORD = `${WORD}²³¹¼-¾`;

/** The general categories: short and long name; the last one is what JavaScript gets. */
const CATEGORIES =
  'L Letter, LC Cased_Letter, Lu Uppercase_Letter, Ll Lowercase_Letter, Lt Titlecase_Letter, Lm Modifier_Letter, ' +
  'Lo Other_Letter, M Mark, Mn Nonspacing_Mark, Mc Spacing_Mark, Me Enclosing_Mark, N Number, Nd Decimal_Number, ' +
  'Nl Letter_Number, No Other_Number, P Punctuation, Pc Connector_Punctuation, Pd Dash_Punctuation, ' +
  'Ps Open_Punctuation, Pe Close_Punctuation, Pi Initial_Punctuation, Pf Final_Punctuation, Po Other_Punctuation, ' +
  'S Symbol, Sm Math_Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, So Other_Symbol, Z Separator, ' +
  'Zs Space_Separator, Zl Line_Separator, Zp Paragraph_Separator, C Other, Cc Control, Cf Format, Cs Surrogate, ' +
  'Co Private_Use, Cn Unassigned';

/** The properties that are true or false, where both engines know them. */
const BINARY =
  'Any, Assigned, AHex ASCII_Hex_Digit, Alphabetic, Bidi_C Bidi_Control, CI Case_Ignorable, Cased, ' +
  'CWCF Changes_When_Casefolded, CWCM Changes_When_Casemapped, CWL Changes_When_Lowercased, ' +
  'CWT Changes_When_Titlecased, CWU Changes_When_Uppercased, Dash, DI Default_Ignorable_Code_Point, ' +
  'Dep Deprecated, Dia Diacritic, Emoji, EBase Emoji_Modifier_Base, EComp Emoji_Component, EMod Emoji_Modifier, ' +
  'EPres Emoji_Presentation, Ext Extender, ExtPict Extended_Pictographic, Gr_Base Grapheme_Base, ' +
  'Gr_Ext Grapheme_Extend, Hex Hex_Digit, IDSB IDS_Binary_Operator, IDST IDS_Trinary_Operator, IDC ID_Continue, ' +
  'IDS ID_Start, Ideo Ideographic, Join_C Join_Control, LOE Logical_Order_Exception, Lowercase, Math, ' +
  'NChar Noncharacter_Code_Point, Pat_Syn Pattern_Syntax, Pat_WS Pattern_White_Space, QMark Quotation_Mark, ' +
  'Radical, RI Regional_Indicator, STerm Sentence_Terminal, SD Soft_Dotted, Term Terminal_Punctuation, ' +
  'UIdeo Unified_Ideograph, Uppercase, VS Variation_Selector, White_Space, XIDC XID_Continue, XIDS XID_Start';

/** Scripts whose names cannot be had by writing the first letter in upper case. */
const SCRIPTS =
  'Anatolian_Hieroglyphs, Canadian_Aboriginal, Caucasian_Albanian, Cypro_Minoan, Dives_Akuru, ' +
  'Egyptian_Hieroglyphs, Gunjala_Gondi, Gurung_Khema, Hanifi_Rohingya, Imperial_Aramaic, ' +
  'Inscriptional_Pahlavi, Inscriptional_Parthian, Khitan_Small_Script, Kirat_Rai, Linear_A, Linear_B, ' +
  'Masaram_Gondi, Meetei_Mayek, Mende_Kikakui, Meroitic_Cursive, Meroitic_Hieroglyphs, Nag_Mundari, ' +
  'New_Tai_Lue, Nyiakeng_Puachue_Hmong, Ol_Chiki, Ol_Onal, Old_Hungarian, Old_Italic, Old_North_Arabian, ' +
  'Old_Permic, Old_Persian, Old_Sogdian, Old_South_Arabian, Old_Turkic, Old_Uyghur, Pahawh_Hmong, ' +
  'Pau_Cin_Hau, Phags_Pa, Psalter_Pahlavi, Signwriting SignWriting, Sora_Sompeng, Syloti_Nagri, Tai_Le, ' +
  'Tai_Tham, Tai_Viet, Tulu_Tigalari, Warang_Citi, Zanabazar_Square';

/** Names of Oniguruma that have no counterpart here: blocks, and properties of no use outside of Unicode's own tables. */
const NOT_HERE =
  /^(?:in|other|graphemecluster|graphemelink|hyphen|idcompat|indic|modifiercombining|prepended)/;

/** Every spelling, simplified by {@link plain}, with the name for JavaScript. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [CATEGORIES, BINARY, SCRIPTS].flatMap((list) =>
    list.split(', ').flatMap((entry): readonly (readonly [string, string])[] => {
      const names = entry.split(' ');
      const name = (list === SCRIPTS ? 'Script=' : '') + (names.at(-1) ?? '');
      return names.map((spelling) => [plain(spelling), name]);
    }),
  ),
);

/** The set that `[:name:]` means inside a class. */
export function posixSet(name: string, isNegated: boolean): string {
  const set = Object.hasOwn(POSIX_CLASSES, name) ? POSIX_CLASSES[name] : undefined;
  if (set === undefined) throw regexFailure('invalid POSIX bracket type');
  return isNegated ? `[^${set}]` : set;
}

/** The set that `\p{name}` means. */
export function propertySet(name: string, isNegated: boolean): string {
  const key = plain(name);
  const posix = ownSet(key);
  if (posix !== undefined) return `[${isNegated ? '^' : ''}${posix}]`;
  const property = NAMES.get(key) ?? `Script=${key.slice(0, 1).toUpperCase()}${key.slice(1)}`;
  const source = `\\${isNegated ? 'P' : 'p'}{${property}}`;
  try {
    RegExp(source, 'v');
  } catch {
    if (NOT_HERE.test(key)) throw unsupported(`the character property {${name}} is`);
    throw regexFailure(`invalid character property name {${name}}`);
  }
  return source;
}

/** Sets that differ from the Unicode property of the same name. */
function ownSet(key: string): string | undefined {
  if (key === 'word') return WIDE_WORD;
  if (key === 'punct') return '\\p{P}';
  return Object.hasOwn(POSIX_CLASSES, key) ? POSIX_CLASSES[key] : undefined;
}

/** Case, spaces, `-` and `_` do not count in names. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[ _-]/g, '');
}
