package org.apache.iceberg.rest;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * Apache Iceberg's own REST handlers over its JDBC catalog, on loopback, for tests.
 *
 * <p>Arguments: the port, then catalog properties as key=value. With FIRN_REST_TOKEN set, every call but config and
 * oauth/tokens must carry it as a bearer token; FIRN_REST_CREDENTIAL, "id:secret", is what the token is given for.
 *
 * <p>In this package because the handlers are visible here only.
 */
public final class RestCatalog {
  private RestCatalog() {}

  public static void main(String[] args) throws Exception {
    Map<String, String> properties = properties(args);
    Catalog catalog = CatalogUtil.buildIcebergCatalog("firn", properties, new Configuration());
    RESTCatalogAdapter adapter =
        new RESTServerCatalogAdapter(new RESTCatalogServer.CatalogContext(catalog, properties));

    ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    String token = System.getenv("FIRN_REST_TOKEN");
    if (token != null && !token.isEmpty()) {
      FilterHolder bearer = new FilterHolder(new Bearer(token, System.getenv("FIRN_REST_CREDENTIAL")));
      context.addFilter(bearer, "/*", EnumSet.of(DispatcherType.REQUEST));
    }
    context.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");

    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    server.setHandler(context);
    server.start();
    server.join();
  }

  private static Map<String, String> properties(String[] args) {
    Map<String, String> properties = new HashMap<>();
    for (int i = 1; i < args.length; i++) {
      int equals = args[i].indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("not key=value: " + args[i]);
      }
      properties.put(args[i].substring(0, equals), args[i].substring(equals + 1));
    }
    properties.putIfAbsent("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.putIfAbsent("jdbc.schema-version", "V1");
    return properties;
  }

  /** Lets only requests with the token through, and gives the token to who knows the credential. */
  private static final class Bearer implements Filter {
    private final String token;
    private final String credential;

    Bearer(String token, String credential) {
      this.token = token;
      this.credential = credential;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain next)
        throws IOException, ServletException {
      HttpServletRequest req = (HttpServletRequest) request;
      HttpServletResponse res = (HttpServletResponse) response;
      String path = req.getRequestURI();
      if (path.endsWith("/v1/oauth/tokens")) {
        grant(req, res);
      } else if (path.endsWith("/v1/config") || ("Bearer " + token).equals(req.getHeader("Authorization"))) {
        next.doFilter(request, response);
      } else {
        String error = "{\"message\":\"Not authorized\",\"type\":\"NotAuthorizedException\",\"code\":401}";
        json(res, 401, "{\"error\":" + error + "}");
      }
    }

    private void grant(HttpServletRequest req, HttpServletResponse res) throws IOException {
      String id = req.getParameter("client_id");
      String secret = req.getParameter("client_secret");
      String header = req.getHeader("Authorization");
      if (id == null && header != null && header.startsWith("Basic ")) {
        String[] pair =
            new String(Base64.getDecoder().decode(header.substring(6)), StandardCharsets.UTF_8).split(":", 2);
        id = URLDecoder.decode(pair[0], StandardCharsets.UTF_8);
        secret = URLDecoder.decode(pair[1], StandardCharsets.UTF_8);
      }
      if (credential != null && credential.equals(id + ":" + secret)) {
        json(res, 200, "{\"access_token\":\"" + token + "\",\"token_type\":\"bearer\",\"expires_in\":3600,"
            + "\"issued_token_type\":\"urn:ietf:params:oauth:token-type:access_token\"}");
      } else {
        json(res, 401, "{\"error\":\"invalid_client\",\"error_description\":\"bad credential\"}");
      }
    }

    private static void json(HttpServletResponse res, int code, String body) throws IOException {
      res.setStatus(code);
      res.setContentType("application/json");
      res.getWriter().write(body);
    }
  }
}
