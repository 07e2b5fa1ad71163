/** Something in a YAML text that is refused; `offset` is where, in characters from its start. */
export class YamlProblem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'YamlProblem';
    this.offset = offset;
  }
}
