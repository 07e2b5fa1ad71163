import { isIPv4, isIPv6 } from 'node:net';

const UUID = '[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?V[0-9a-fA-F]{3}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}';
const uuid = (version: string): RegExp => new RegExp(`^${UUID.replace('V', version)}$`);

const HOST_NAME =
  /^(?=.{1,255}$)[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)*\.?$/u;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;

/** Formats of texts that are checked; any other word after `format` means nothing. */
export const SCHEMA_FORMATS: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  bsonobjectid: /^[0-9a-fA-F]{24}$/,
  byte: /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?$/,
  cidr: isCidr,
  date: isDate,
  'date-time': (text) => DATE_TIME.test(text) && isDate(text.slice(0, 10)),
  datetime: (text) => DATE_TIME.test(text) && isDate(text.slice(0, 10)),
  // No text may match in more than one way: one that does not match would be tried in all of them.
  duration: /^-?(?:\d+(?:\.\d+)?\s*(?:µs|[a-z]+)\s*)+$/i,
  email: /^(?:[^\s@<>]+@[^\s@<>]+|[^<>]*<[^\s@<>]+@[^\s@<>]+>)$/,
  hexcolor: /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/,
  hostname: HOST_NAME,
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: /^(?:(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})$/,
  rgbcolor: /^rgb\(\s*(?:\d{1,3}\s*,\s*){2}\d{1,3}\s*\)$/,
  // A path alone is one too, as in a request.
  uri: (text) => text.startsWith('/') || URL.canParse(text),
  uuid: uuid('[0-9a-fA-F]'),
  uuid3: uuid('3'),
  uuid4: uuid('4'),
  uuid5: uuid('5'),
};

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // A day that the month does not have would come out as one of the next month.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}
