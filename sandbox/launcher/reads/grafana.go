package reads

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const grafanaVersion = "12.3.0"

// dashboard is what is looked at of a dashboard's document.
type dashboard struct {
	UID   string   `json:"uid"`
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
}

// source is where dashboards have their data from.
type source struct {
	name, kind, tool string
}

var sources = []source{
	{"Prometheus", "prometheus", "prometheus"}, {"Loki", "loki", "loki"}, {"Jaeger", "jaeger", "jaeger"},
	{"Alertmanager", "alertmanager", "alertmanager"},
}

func (w *world) grafana() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", func(out http.ResponseWriter, _ *http.Request) {
		send(out, http.StatusOK, object{"database": "ok", "version": grafanaVersion, "commit": "3f1a9c07"})
	})
	mux.HandleFunc("GET /api/org", func(out http.ResponseWriter, _ *http.Request) {
		send(out, http.StatusOK, object{"id": 1, "name": "Main Org."})
	})
	for path, one := range map[string]func(*http.Request, *State) (int, any){
		"search": searchDashboards, "dashboards/uid/{uid}": oneDashboard, "datasources": allSources, "folders": folders,
		"datasources/uid/{uid}": oneSource, "datasources/name/{uid}": oneSource, "datasources/{uid}": oneSource,
	} {
		mux.HandleFunc("GET /api/"+path, func(out http.ResponseWriter, r *http.Request) {
			state, err := w.file.present()
			if err != nil {
				send(out, http.StatusInternalServerError, object{"message": "Internal Server Error"})
				return
			}
			code, answer := one(r, state)
			send(out, code, answer)
		})
	}
	inner := map[string]http.Handler{
		"prometheus": w.prom, "loki": w.loki(), "jaeger": w.jaeger(), "alertmanager": w.alertmanager(),
	}
	mux.HandleFunc("/api/datasources/proxy/uid/{uid}/{rest...}", func(out http.ResponseWriter, r *http.Request) {
		state, err := w.file.present()
		if err != nil {
			send(out, http.StatusInternalServerError, object{"message": "Internal Server Error"})
			return
		}
		for _, one := range sourcesOf(state) {
			if one["uid"] == r.PathValue("uid") {
				prefix := "/api/datasources/proxy/uid/" + r.PathValue("uid")
				http.StripPrefix(prefix, inner[r.PathValue("uid")]).ServeHTTP(out, r)
				return
			}
		}
		send(out, http.StatusNotFound, object{"message": "Data source not found"})
	})
	mux.HandleFunc("/api/", func(out http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			send(out, http.StatusForbidden, object{"message": "You'll need additional permissions to perform this action.", "title": "Access denied"})
			return
		}
		send(out, http.StatusNotFound, object{"message": "Not found"})
	})
	return mux
}

func read(one Dashboard) dashboard {
	var found dashboard
	_ = json.Unmarshal(one.Document, &found)
	if found.Tags == nil {
		found.Tags = []string{}
	}
	return found
}

// slug is a title as addresses have it.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(one rune) bool {
		return !('a' <= one && one <= 'z' || '0' <= one && one <= '9')
	})
	return strings.Join(words, "-")
}

func searchDashboards(r *http.Request, state *State) (int, any) {
	asked := r.URL.Query()
	if kind := asked.Get("type"); kind != "" && kind != "dash-db" {
		return http.StatusOK, []object{}
	}
	found := []object{}
	for i, each := range state.Dashboards {
		one := read(each)
		if text := asked.Get("query"); !strings.Contains(strings.ToLower(one.Title), strings.ToLower(text)) {
			continue
		}
		if slices.ContainsFunc(asked["tag"], func(tag string) bool { return !slices.Contains(one.Tags, tag) }) {
			continue
		}
		if uids := asked["dashboardUIDs"]; len(uids) > 0 && !slices.Contains(uids, one.UID) {
			continue
		}
		found = append(found, object{
			"id": i + 1, "orgId": 1, "uid": one.UID, "title": one.Title, "uri": "db/" + slug(one.Title),
			"url": fmt.Sprintf("/d/%s/%s", one.UID, slug(one.Title)), "slug": "", "type": "dash-db", "tags": one.Tags,
			"isStarred": false, "sortMeta": 0, "isDeleted": false,
		})
	}
	return http.StatusOK, found[:min(len(found), number(asked.Get("limit"), 1000, 5000))]
}

func oneDashboard(r *http.Request, state *State) (int, any) {
	for i, each := range state.Dashboards {
		one := read(each)
		if one.UID != r.PathValue("uid") {
			continue
		}
		created := moment(state.Now - 3_600_000).Format("2006-01-02T15:04:05Z")
		document := object{}
		_ = json.Unmarshal(each.Document, &document)
		document["id"] = i + 1
		return http.StatusOK, object{
			"meta": object{
				"type": "db", "canSave": false, "canEdit": false, "canAdmin": false, "canStar": false, "canDelete": false,
				"slug": slug(one.Title), "url": fmt.Sprintf("/d/%s/%s", one.UID, slug(one.Title)), "expires": "0001-01-01T00:00:00Z",
				"created": created, "updated": created, "updatedBy": "Anonymous", "createdBy": "Anonymous", "version": 1,
				"hasAcl": false, "isFolder": false, "folderId": 0, "folderUid": "", "folderTitle": "General", "folderUrl": "",
				"provisioned": true, "provisionedExternalId": each.Folder,
			},
			"dashboard": document,
		}
	}
	return http.StatusNotFound, object{"message": "Dashboard not found", "status": "not-found"}
}

func folders(*http.Request, *State) (int, any) { return http.StatusOK, []object{} }

func sourcesOf(state *State) []object {
	found := []object{}
	for i, one := range sources {
		if listened, ok := state.Listen[one.tool]; ok {
			found = append(found, object{
				"id": i + 1, "uid": one.tool, "orgId": 1, "name": one.name, "type": one.kind, "access": "proxy",
				"url": fmt.Sprintf("http://%s:%d", listened.Host, listened.Port), "user": "", "database": "",
				"basicAuth": false, "isDefault": one.tool == "prometheus", "jsonData": object{}, "readOnly": true,
			})
		}
	}
	return found
}

func allSources(_ *http.Request, state *State) (int, any) { return http.StatusOK, sourcesOf(state) }

func oneSource(r *http.Request, state *State) (int, any) {
	for _, one := range sourcesOf(state) {
		asked := r.PathValue("uid")
		if one["uid"] == asked || one["name"] == asked || strconv.Itoa(one["id"].(int)) == asked {
			return http.StatusOK, one
		}
	}
	return http.StatusNotFound, object{"message": "Data source not found"}
}
