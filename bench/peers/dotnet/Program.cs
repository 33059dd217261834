// JSON echo on ASP.NET Core's minimal API; the serialiser is generated at build time.

using System.Text.Json.Serialization;

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders();
builder.Services.ConfigureHttpJsonOptions(options =>
{
    options.SerializerOptions.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
    options.SerializerOptions.TypeInfoResolverChain.Insert(0, Shapes.Default);
});

var app = builder.Build();
app.MapPost("/{**path}", (Body body) => body);
app.MapGet("/{**path}", () => "Hello World");
app.Run();

record Body(List<Color>? Colors);

record Color([property: JsonPropertyName("color")] string? Name, string? Category, string? Type, Code? Code);

record Code(List<int>? Rgba, string? Hex);

[JsonSerializable(typeof(Body))]
partial class Shapes : JsonSerializerContext;
