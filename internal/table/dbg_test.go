package table
import ("testing";"time";"fmt")
func TestDbg(t *testing.T){
 a := newAudited(t)
 table := a.table()
 n := time.Now()
 for i := range int64(1000) { s := flushOf(table, partition0, i*10, i*10+10)
   commit(t, a.k, s) }
 fmt.Println("commits", time.Since(n)); n = time.Now()
 r := a.audit(AuditOptions{})
 fmt.Println("audit", time.Since(n), r.OK(), r.Snapshots)
}
