package main

import (
	"strings"
	"testing"

	"firn/internal/table"
	"firn/internal/upkeep"
)

// The plan tells of joins, of files that are written anew, and of delete files, and leaves out what there is none of.
func TestPrintCompactPlan(t *testing.T) {
	for _, c := range []struct {
		plan compactPlan
		want string
	}{
		{compactPlan{columns: 2}, "0 files of 0 B would become 0\nrequests: 0 files read, 0 written, at least 0 commits\n"},
		{
			compactPlan{
				FilesIn: 9, FilesOut: 2, Bytes: 5e6, columns: 2,
				Rewrite: rewritePlan{Files: 3, Bytes: 7e6, WithDeletes: 2, DeletesDropped: 4, DeletesBytes: 9e3},
				Left:    []table.LeftFile{{Path: "a", Reason: "it is not Parquet"}},
				work:    upkeep.Work{Rewrites: make([][]upkeep.Candidate, 1)},
			},
			"9 files of 5.0 MB would become 2\n" +
				"3 files of 7.0 MB would be written anew, 2 of them because of deletes\n" +
				"4 delete files of 9.0 kB would not be needed any more, and go\n" +
				"requests: 12 files read, 3 written, at least 2 commits\n" +
				"left alone: a: it is not Parquet\n",
		},
		{
			compactPlan{columns: 2, Rewrite: rewritePlan{DeletesDropped: 1}},
			"0 files of 0 B would become 0\n1 delete files of 0 B would not be needed any more, and go\n" +
				"requests: 0 files read, 0 written, at least 1 commits\n",
		},
	} {
		var out strings.Builder
		if err := printCompactPlan(&out, c.plan); err != nil || out.String() != c.want {
			t.Errorf("printed\n%s\nwant\n%s\nerror %v", out.String(), c.want, err)
		}
	}
}

func TestPrintCompacted(t *testing.T) {
	var out strings.Builder
	err := printCompacted(&out, upkeep.Compacted{
		FilesIn: 5, FilesOut: 1, Bytes: 3e6, Commits: 1, Rewritten: 2, Deleted: 7, DeletesDropped: 3, Stale: 1,
		Failed: []upkeep.FailedJoin{{Files: 2, Error: "cut off"}},
	}, compactPlan{})
	want := "5 files became 1 of 3.0 MB, in 1 commits\n" +
		"2 of them were written anew, without 7 deleted rows\n" +
		"3 delete files went, which nothing needs any more\n" +
		"1 files were changed by others meanwhile, and are left: run the command again\n" +
		"2 files could not be compacted: cut off\n"
	if err != nil || out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s\nerror %v", out.String(), want, err)
	}
}
