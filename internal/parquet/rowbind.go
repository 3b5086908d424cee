package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// boundNode is a field that is wanted, with its place in a file.
//
// Levels say what there is: an entry of a leaf is a slot of the node where its repetition level is at most rep and its
// definition level at least slot, and what is in the slot is not null where that is def or more (Dremel).
type boundNode struct {
	field    *record.Field
	path     string
	missing  bool     // from the file: it is null
	leaf     *rowLeaf // of values; nil for groups
	lead     *rowLeaf // any leaf at or below it, whose levels are looked at
	rep      uint8    // of the list or map around it; 0 for none
	slot     uint8
	def      uint8
	children []boundNode
	elements boundPlace // of a list or map, for what is in it
}

// boundPlace is what is around a field.
type boundPlace struct {
	path string
	rep  uint8
	slot uint8
}

// binder finds fields in a file.
type binder struct {
	footer *Footer
	opened map[int]*rowLeaf // by their number in the file
	leaves []*rowLeaf
}

func (b *binder) bindFields(fields []record.Field, among []fileNode, at boundPlace) ([]boundNode, error) {
	nodes := make([]boundNode, len(fields))
	for i := range fields {
		var err error
		if nodes[i], err = b.find(&fields[i], among, at); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// find looks for a field among those of a group.
func (b *binder) find(f *record.Field, among []fileNode, at boundPlace) (boundNode, error) {
	path := join(at.path, f.Name)
	for i := range among {
		n := &among[i]
		if n.id == f.ID {
			return b.bind(f, n, boundPlace{path, at.rep, at.slot})
		}
		if n.id == 0 {
			return boundNode{}, fmt.Errorf("the file's column %s has no field id, and name mappings are not read: "+
				"have it written anew by an engine that knows the mapping, such as Spark", join(at.path, n.name))
		}
	}
	if f.Required {
		return boundNode{}, fmt.Errorf("the file has no column %s of field id %d, which is required", path, f.ID)
	}
	return boundNode{field: f, path: path, missing: true, rep: at.rep, slot: at.slot}, nil
}

// bind binds a field to what the file has under its id.
func (b *binder) bind(f *record.Field, n *fileNode, at boundPlace) (boundNode, error) {
	if n.def > levelMax {
		return boundNode{}, fmt.Errorf("column %s is nested deeper than %d levels in the file", at.path, levelMax)
	}
	out := boundNode{field: f, path: at.path, rep: at.rep, slot: at.slot, def: uint8(n.def)}
	if n.rep != int(at.rep) {
		return out, fmt.Errorf("column %s is repeated in the file, and no list or map", at.path)
	}
	var err error
	switch f.Type.Kind {
	case record.KindStruct:
		err = b.bindStruct(&out, n, at)
	case record.KindList, record.KindMap:
		err = b.bindRepeated(&out, n, at)
	default:
		err = b.bindLeaf(&out, n)
	}
	return out, err
}

func (b *binder) bindLeaf(out *boundNode, n *fileNode) error {
	if n.leaf < 0 {
		return out.differs("a group of columns")
	}
	s := b.footer.leaves[n.leaf].shape
	c, err := castOf(&out.field.Type, s)
	if err != nil {
		return fmt.Errorf("column %s: %w", out.path, err)
	}
	l := b.open(n, out.path)
	l.field, l.cast, l.levelsOnly = out.field, c, false
	out.leaf, out.lead = l, l
	return nil
}

func (n *boundNode) differs(found string) error {
	return fmt.Errorf("column %s is %s in the file, and of type %s in the table", n.path, found, n.field.Type)
}

// open has the pages of a leaf read; only their levels, until somebody wants the values.
func (b *binder) open(n *fileNode, path string) *rowLeaf {
	if l := b.opened[n.leaf]; l != nil {
		return l
	}
	s := b.footer.leaves[n.leaf].shape
	l := &rowLeaf{
		at: n.leaf, path: path, physical: s.physical, width: plainWidth(s), def: uint8(n.def), rep: uint8(n.rep),
		levelsOnly: true,
	}
	b.opened[n.leaf] = l
	b.leaves = append(b.leaves, l)
	return l
}

func (b *binder) bindStruct(out *boundNode, n *fileNode, at boundPlace) error {
	if n.leaf >= 0 {
		return out.differs("a column of values")
	}
	var err error
	if out.children, err = b.bindFields(out.field.Type.Fields, n.children, at); err != nil {
		return err
	}
	return b.setLead(out, n)
}

// setLead chooses the leaf that tells which values of a group are null: one that is read anyway, if there is one.
func (b *binder) setLead(out *boundNode, n *fileNode) error {
	for i := range out.children {
		if lead := out.children[i].lead; lead != nil {
			out.lead = lead
			return nil
		}
	}
	for n.leaf < 0 {
		if len(n.children) == 0 {
			return out.differs("a group without columns")
		}
		n = &n.children[0]
	}
	if n.def > levelMax {
		return fmt.Errorf("column %s is nested deeper than %d levels in the file", out.path, levelMax)
	}
	out.lead = b.open(n, out.path)
	return nil
}

// bindRepeated binds a list or map: a group with one repeated child, which is the group of elements in it, or the
// element itself as writers of old have it (LogicalTypes.md, "Lists", backward compatibility).
func (b *binder) bindRepeated(out *boundNode, n *fileNode, at boundPlace) error {
	if n.leaf >= 0 || len(n.children) != 1 || n.children[0].repetition != format.Repeated {
		return out.differs("no group with a repeated one in it")
	}
	inner := &n.children[0]
	if inner.def > levelMax {
		return fmt.Errorf("column %s is nested deeper than %d levels in the file", out.path, levelMax)
	}
	out.elements = boundPlace{at.path, uint8(inner.rep), uint8(inner.def)}
	fields := out.field.Type.Fields
	if out.field.Type.Kind == record.KindList && inner.id == fields[0].ID {
		in := out.elements
		in.path = join(in.path, fields[0].Name)
		element, err := b.bind(&fields[0], inner, in)
		if err != nil {
			return err
		}
		out.children = []boundNode{element}
		return b.setLead(out, n)
	}
	if inner.leaf >= 0 {
		return out.differs("a repeated column of another field id than its elements")
	}
	var err error
	if out.children, err = b.bindFields(fields, inner.children, out.elements); err != nil {
		return err
	}
	for i := range out.children {
		if out.children[i].missing {
			return fmt.Errorf("the file has no %s of field id %d", out.children[i].path, fields[i].ID)
		}
	}
	return b.setLead(out, n)
}
