import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** One sentence for each field of a class that others can write: a field has one writer, its class. */
export function sharedFields(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...sources].flatMap(([file, source]) => {
    const fields: string[] = [];
    const collect = ({ id, body }: ESTree.Class): void => {
      for (const member of body.body) {
        if (member.type !== 'PropertyDefinition' || !isWritable(member)) continue;
        fields.push(`${id?.name}.${source.slice(member.key.start, member.key.end)}`);
      }
    };
    new Visitor({ ClassDeclaration: collect, ClassExpression: collect }).visit(
      parseSync(file, source).program,
    );
    return fields.map((field) => `${file}: others can write ${field}; make it private, with methods`);
  });
}

/** Neither `readonly` nor private, or a collection that is not `Readonly…`. */
function isWritable({
  key,
  static: isStatic,
  readonly: isReadonly,
  value,
}: ESTree.PropertyDefinition): boolean {
  if (isStatic || key.type === 'PrivateIdentifier') return false;
  if (isReadonly !== true) return true;
  if (value?.type !== 'NewExpression' || value.callee.type !== 'Identifier') return false;
  return ['Map', 'Set'].includes(value.callee.name);
}
